---------------------------- MODULE ThreeInstances ----------------------------
(* Three instances and two semaphores; the request of the second one needs both. *)
EXTENDS Semaphore

ThreeRequests == {"r1", "r2", "r3"}
TheirInstance == ("r1" :> "i1") @@ ("r2" :> "i2") @@ ("r3" :> "i3")
TheirNames == ("r1" :> {1}) @@ ("r2" :> {1, 2}) @@ ("r3" :> {2})
OnePermitEach == (1 :> 1) @@ (2 :> 1)
================================================================================
