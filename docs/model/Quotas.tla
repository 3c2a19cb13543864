-------------------------------- MODULE Quotas ---------------------------------
(* Permits that the callers of an instance use one after the other without a transaction: chunks, their confirmations, and the marks  *)
(* of refused callers. What a grant transaction does is in Semaphore.tla; here it is one step. Time is a number; R is the reuse time. *)
(* Each switch stands for a rule. Without it TLC finds a violation, see docs/model/README.md.                                          *)
EXTENDS Integers, FiniteSets, TLC

CONSTANTS
    Instances,
    Count,         \* how many permits the callers of an instance ask for
    Capacity,
    R,             \* the reuse time
    Timeout,       \* after that without an answer of the database, the permits of an instance may be reclaimed
    End,           \* when the clock stops
    MaxFaults,     \* how often a process is frozen, or a grant released by force
    ConfirmsUses,  \* a use begins only within R after the database was asked whether the chunk is held
    CountsFromQuestion, \* these R begin before the database is asked, not when it answers
    CountsIdle,    \* to the database a chunk is held until it has gone back, also while it is idle
    LeavesMarks,   \* a refused caller that does not wait leaves a mark
    HeedsMarks     \* idle chunks go back when a confirmation has seen a mark

Never == -1
Once == -2

VARIABLES
    now,
    row,      \* the permits that the database counts as held by an instance
    goneAt,   \* when the row of a chunk went without its instance
    chunk,    \* what the instance has: "none", "idle", "used"
    confirmed,\* when the database was asked about the chunk the last time, as far as the instance counts it
    question, \* the confirmation under way: when it was asked and what the database has answered
    askedAt,  \* when a confirmation was begun the last time
    marked,   \* since when the mark of an instance is in the database; Never without one
    refused,  \* when a caller of the instance was refused that has not been granted since
    granted,  \* when the chunk was granted
    wanted,   \* until when the instance keeps nothing idle since it has seen a mark
    frozen,
    frozenAt,
    faults,
    broken    \* what must never happen and did

vars == <<now, row, goneAt, chunk, confirmed, question, askedAt, marked, refused, granted, wanted, frozen, frozenAt,
          faults, broken>>

NoQuestion == [at |-> Never, held |-> FALSE, refused |-> FALSE]

RECURSIVE SumOf(_, _)
SumOf(f, set) == IF set = {} THEN 0 ELSE LET i == CHOOSE any \in set : TRUE IN f[i] + SumOf(f, set \ {i})

Init ==
    /\ now = 0
    /\ row = [i \in Instances |-> 0]
    /\ goneAt = [i \in Instances |-> Never]
    /\ chunk = [i \in Instances |-> "none"]
    /\ confirmed = [i \in Instances |-> Never]
    /\ question = [i \in Instances |-> NoQuestion]
    /\ askedAt = [i \in Instances |-> Never]
    /\ marked = [i \in Instances |-> Never]
    /\ refused = [i \in Instances |-> Never]
    /\ granted = [i \in Instances |-> Never]
    /\ wanted = [i \in Instances |-> 0 - R]
    /\ frozen = [i \in Instances |-> FALSE]
    /\ frozenAt = [i \in Instances |-> Never]
    /\ faults = 0
    /\ broken = {}

IsMarked(others) == \E j \in others : marked[j] # Never /\ now - marked[j] < R

IsReusable(i) == ~ConfirmsUses \/ now - confirmed[i] < R

\* Idle or in use: whether it may be used again is decided with the next use.
IsKept(i) == IsReusable(i) /\ now >= wanted[i]

--------------------------------------------------------------------------------
(* What callers do. *)

\* A caller that finds no idle chunk acquires one.
Acquire(i) ==
    /\ ~frozen[i] /\ chunk[i] = "none"
    /\ SumOf(row, Instances) + Count[i] <= Capacity
    /\ row' = [row EXCEPT ![i] = Count[i]]
    /\ goneAt' = [goneAt EXCEPT ![i] = Never]
    /\ chunk' = [chunk EXCEPT ![i] = "used"]
    /\ confirmed' = [confirmed EXCEPT ![i] = now]
    /\ askedAt' = [askedAt EXCEPT ![i] = now]
    /\ marked' = [marked EXCEPT ![i] = Never]
    /\ refused' = [refused EXCEPT ![i] = Never]
    /\ granted' = [granted EXCEPT ![i] = now]
    /\ UNCHANGED <<now, question, wanted, frozen, frozenAt, faults, broken>>

\* A caller that does not wait, and finds too little.
Refuse(i) ==
    /\ ~frozen[i] /\ chunk[i] = "none" /\ refused[i] = Never
    /\ SumOf(row, Instances) + Count[i] > Capacity
    /\ refused' = [refused EXCEPT ![i] = now]
    /\ UNCHANGED <<now, row, goneAt, chunk, confirmed, question, askedAt, marked, granted, wanted, frozen, frozenAt, faults, broken>>

\* A use without a transaction. What was taken away R ago or earlier must not be used.
Use(i) ==
    /\ ~frozen[i] /\ chunk[i] = "idle" /\ IsKept(i)
    /\ chunk' = [chunk EXCEPT ![i] = "used"]
    /\ broken' = IF goneAt[i] # Never /\ now - goneAt[i] >= R
                 THEN broken \cup {"a use began although its permits were gone"} ELSE broken
    /\ UNCHANGED <<now, row, goneAt, confirmed, question, askedAt, marked, refused, granted, wanted, frozen, frozenAt, faults>>

\* Nothing is known of a chunk that has gone back; the answer about it concerns no later one.
GoesBack(i) ==
    /\ chunk' = [chunk EXCEPT ![i] = "none"]
    /\ row' = [row EXCEPT ![i] = 0]
    /\ goneAt' = [goneAt EXCEPT ![i] = Never]
    /\ confirmed' = [confirmed EXCEPT ![i] = Never]
    /\ question' = [question EXCEPT ![i] = NoQuestion]
    /\ askedAt' = [askedAt EXCEPT ![i] = Never]
    /\ granted' = [granted EXCEPT ![i] = Never]

\* After a use the chunk is kept idle, or goes back.
EndUse(i) ==
    /\ ~frozen[i] /\ chunk[i] = "used"
    /\ IF IsKept(i)
       THEN /\ chunk' = [chunk EXCEPT ![i] = "idle"]
            /\ row' = [row EXCEPT ![i] = IF CountsIdle THEN @ ELSE 0]
            /\ UNCHANGED <<goneAt, confirmed, question, askedAt, granted>>
       ELSE GoesBack(i)
    /\ UNCHANGED <<now, marked, refused, wanted, frozen, frozenAt, faults, broken>>

--------------------------------------------------------------------------------
(* What instances do. *)

\* One transaction for all that an instance has. The answer may come much later, to a process that was frozen.
Ask(i) ==
    /\ ~frozen[i] /\ chunk[i] # "none" /\ question[i] = NoQuestion
    /\ question' = [question EXCEPT ![i] = [at |-> now, held |-> row[i] > 0, refused |-> IsMarked(Instances \ {i})]]
    /\ askedAt' = [askedAt EXCEPT ![i] = now]
    /\ UNCHANGED <<now, row, goneAt, chunk, confirmed, marked, refused, granted, wanted, frozen, frozenAt, faults, broken>>

Answered(i) ==
    /\ ~frozen[i] /\ question[i] # NoQuestion
    /\ confirmed' = [confirmed EXCEPT ![i] =
                        IF ~question[i].held THEN @ ELSE IF CountsFromQuestion THEN question[i].at ELSE now]
    /\ wanted' = [wanted EXCEPT ![i] = IF question[i].refused /\ HeedsMarks /\ now - @ >= R THEN now + R ELSE @]
    /\ question' = [question EXCEPT ![i] = NoQuestion]
    /\ UNCHANGED <<granted, refused, now, row, goneAt, chunk, askedAt, marked, frozen, frozenAt, faults, broken>>

\* The refused caller does not wait; its instance tells the others with its next transaction.
Mark(i) ==
    /\ LeavesMarks /\ ~frozen[i] /\ refused[i] # Never /\ marked[i] = Never
    /\ marked' = [marked EXCEPT ![i] = now]
    /\ UNCHANGED <<now, row, goneAt, chunk, confirmed, question, askedAt, refused, granted, wanted, frozen, frozenAt, faults, broken>>

\* A chunk that others want, that cannot be used, or that nobody uses.
GiveBack(i) ==
    /\ ~frozen[i] /\ chunk[i] = "idle"
    /\ GoesBack(i)
    /\ UNCHANGED <<now, marked, refused, wanted, frozen, frozenAt, faults, broken>>

--------------------------------------------------------------------------------
(* Faults. *)

Fault == faults < MaxFaults /\ faults' = faults + 1

Gone(i) ==
    /\ row' = [row EXCEPT ![i] = 0]
    /\ goneAt' = [goneAt EXCEPT ![i] = now]

ReleaseByForce(i) ==
    /\ Fault /\ row[i] > 0
    /\ Gone(i)
    /\ UNCHANGED <<now, chunk, confirmed, question, askedAt, marked, refused, granted, wanted, frozen, frozenAt, broken>>

Freeze(i) ==
    /\ Fault /\ ~frozen[i] /\ chunk[i] # "none"
    /\ frozen' = [frozen EXCEPT ![i] = TRUE]
    /\ frozenAt' = [frozenAt EXCEPT ![i] = now]
    /\ UNCHANGED <<now, row, goneAt, chunk, confirmed, question, askedAt, marked, refused, granted, wanted, broken>>

\* What it had decided before is done first, which no rule can prevent: a use that was about to begin has begun.
Resume(i) ==
    /\ frozen[i]
    /\ frozen' = [frozen EXCEPT ![i] = FALSE]
    /\ frozenAt' = [frozenAt EXCEPT ![i] = Once]
    /\ UNCHANGED <<now, row, goneAt, chunk, confirmed, question, askedAt, marked, refused, granted, wanted, faults, broken>>

\* Others reclaim what a frozen or dead instance has.
Reclaim(i) ==
    /\ frozen[i] /\ now - frozenAt[i] >= Timeout /\ row[i] > 0
    /\ Gone(i)
    /\ UNCHANGED <<now, chunk, confirmed, question, askedAt, marked, refused, granted, wanted, frozen, frozenAt, faults, broken>>

--------------------------------------------------------------------------------
(* Time passes when every instance that runs has done what is due: it asks and is answered twice in R, and what is due goes back. *)
IsPunctual(i) ==
    \/ frozen[i]
    \/ /\ chunk[i] = "idle" => IsKept(i)
       /\ ~(LeavesMarks /\ refused[i] # Never /\ marked[i] = Never)
       /\ chunk[i] # "none" => question[i] = NoQuestion /\ 2 * (now - askedAt[i]) < R

Tick ==
    /\ now < End
    /\ \A i \in Instances : IsPunctual(i)
    /\ now' = now + 1
    /\ UNCHANGED <<row, goneAt, chunk, confirmed, question, askedAt, marked, refused, granted, wanted, frozen, frozenAt, faults, broken>>

Done == now = End /\ UNCHANGED vars

Next ==
    \/ Tick \/ Done
    \/ \E i \in Instances :
        \/ Acquire(i) \/ Refuse(i) \/ Use(i) \/ EndUse(i) \/ Ask(i) \/ Answered(i) \/ Mark(i) \/ GiveBack(i)
        \/ ReleaseByForce(i) \/ Freeze(i) \/ Resume(i) \/ Reclaim(i)

Spec == Init /\ [][Next]_vars

--------------------------------------------------------------------------------
(* The promises. *)

NeverOverCapacity == SumOf(row, Instances) <= Capacity

\* What is used and was not taken away is within the capacity, too.
UsedWithinCapacity ==
    SumOf([i \in Instances |-> IF chunk[i] = "used" /\ goneAt[i] = Never THEN Count[i] ELSE 0], Instances) <= Capacity

NothingBroken == broken = {}

\* A refused caller of another instance finds, at the latest R later, that nothing is kept idle beside it.
RefusedIsHeard == \A i, j \in Instances :
    (/\ i # j /\ refused[i] # Never /\ chunk[j] = "idle" /\ granted[j] <= refused[i]
     /\ wanted[j] < 0 /\ frozenAt[i] = Never /\ frozenAt[j] = Never)
        => now - refused[i] <= R
================================================================================
