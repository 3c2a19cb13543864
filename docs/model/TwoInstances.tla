----------------------------- MODULE TwoInstances ------------------------------
(* Two instances and two permits; the callers of the first ask for both of them, those of the second for one. *)
EXTENDS Quotas

BothInstances == {"i1", "i2"}
TheirCount == ("i1" :> 2) @@ ("i2" :> 1)
================================================================================
