------------------------------- MODULE Semaphore -------------------------------
(* The protocol of DB Semaphore: acquire, release, expiry, undo of an unknown outcome, fencing tokens, the queue of all    *)
(* instances, and reuse. One action is one statement, or one commit, where another transaction could come in between.      *)
(* Each switch stands for a rule of the protocol. Without it TLC finds a violation, see docs/model/README.md.                *)
EXTENDS Integers, FiniteSets, Sequences, TLC

CONSTANTS
    Requests,        \* the requests that clients make, each once
    Instance,        \* the instance of each request
    Names,           \* the semaphores of each request, as numbers in the order of their locks
    Capacity,        \* of each semaphore
    MaxFaults,       \* how many connections are cut, and instances killed or frozen
    LocksRow,        \* a grant locks the rows of its semaphores before it sums what is held
    LeavesTombstone, \* an undo inserts the external id where it finds none, so that a late commit fails
    SkipsChecked,    \* a reclaim leaves out permits that a business transaction has checked
    RaisesFence,     \* a grant raises the fence by the tokens of its permit
    HonoursQueue,    \* a grant leaves permits to those who were refused earlier in other instances
    RechecksWaiters  \* a grant in one round trip finds out under the lock whether others wait

Instances == {Instance[r] : r \in Requests}
Semaphores == UNION {Names[r] : r \in Requests}
Nobody == "nobody"
TokensPerGrant == 2

VARIABLES
    row,      \* the request in the database: "none", "held", "released" or "undone"
    token,    \* the first fencing token of a request's permit, by semaphore
    checked,  \* whether a business transaction has checked the request's permits, and has not ended
    locked,   \* the request whose transaction has locked the semaphore's row
    fence,    \* the highest token of a semaphore
    line,     \* the requests with a place, in the order of their places
    recorded, \* whether a request is recorded in the queue of all instances
    tx,       \* the grant transaction of a request: "none", "text", "locking", "grant", "refuse"
    reclaims, \* the requests that a transaction releases since they have expired
    client,   \* what the caller knows: see Clients
    used,     \* the tokens that callers were given, with the semaphore
    uses,     \* how many tokens of its range a request has used
    instance, \* "live", "frozen" or "dead"
    lapsed,   \* whether the lease of an instance has lapsed
    late,     \* whether a request's record in the queue has expired once
    broken,   \* what must never happen and did: a stale write, a caller overtaken, a token used twice
    faults

vars == <<row, token, checked, locked, fence, line, recorded, tx, reclaims, client, used, uses, instance, lapsed, late,
          broken, faults>>

Clients == {"idle", "asking", "waiting", "unknown", "holding", "ended"}

Range(sequence) == {sequence[i] : i \in DOMAIN sequence}

TypeOK ==
    /\ row \in [Requests -> {"none", "held", "released", "undone"}]
    /\ tx \in [Requests -> {"none", "text", "locking", "grant", "refuse"}]
    /\ client \in [Requests -> Clients]
    /\ checked \in [Requests -> BOOLEAN]
    /\ recorded \in [Requests -> BOOLEAN]
    /\ \A r \in Requests : recorded[r] => r \in Range(line)
    /\ instance \in [Instances -> {"live", "frozen", "dead"}]

Init ==
    /\ row = [r \in Requests |-> "none"]
    /\ token = [r \in Requests |-> [s \in Semaphores |-> 0]]
    /\ checked = [r \in Requests |-> FALSE]
    /\ locked = [s \in Semaphores |-> Nobody]
    /\ fence = [s \in Semaphores |-> 0]
    /\ line = <<>>
    /\ recorded = [r \in Requests |-> FALSE]
    /\ tx = [r \in Requests |-> "none"]
    /\ reclaims = [r \in Requests |-> {}]
    /\ client = [r \in Requests |-> "idle"]
    /\ used = {}
    /\ uses = [r \in Requests |-> 0]
    /\ instance = [i \in Instances |-> "live"]
    /\ lapsed = [i \in Instances |-> FALSE]
    /\ late = [r \in Requests |-> FALSE]
    /\ broken = {}
    /\ faults = 0

IsLive(r) == instance[Instance[r]] = "live"

--------------------------------------------------------------------------------
(* The grant transaction. *)

\* A caller asks, or a poll has found that its turn has come.
Begin(r) ==
    /\ IsLive(r) /\ client[r] \in {"idle", "waiting"} /\ tx[r] = "none"
    /\ client' = [client EXCEPT ![r] = "asking"]
    /\ tx' = [tx EXCEPT ![r] = "locking"]
    /\ UNCHANGED <<row, token, checked, locked, fence, line, recorded, reclaims, used, uses, instance, lapsed, late, broken,
                   faults>>

\* In ascending order, so that no two transactions wait for each other.
Lock(r, s) ==
    /\ tx[r] \in {"text", "locking"} /\ LocksRow
    /\ s \in Names[r] /\ locked[s] = Nobody
    /\ \A t \in Names[r] : t < s => locked[t] = r
    /\ locked' = [locked EXCEPT ![s] = r]
    /\ UNCHANGED <<row, token, checked, fence, line, recorded, tx, reclaims, client, used, uses, instance, lapsed, late,
                   broken, faults>>

IsReclaimable(q) == row[q] = "held" /\ lapsed[Instance[q]] /\ (SkipsChecked => ~checked[q])

Held(s, but) == Cardinality({q \in Requests \ but : row[q] = "held" /\ s \in Names[q]})

\* The lines in which a request has a place: any, since with head starts those who come later may stand ahead.
WithPlace(r) ==
    IF r \in Range(line) THEN {line}
    ELSE {SubSeq(line, 1, i) \o <<r>> \o SubSeq(line, i + 1, Len(line)) : i \in 0..Len(line)}

Without(r) == SelectSeq(line, LAMBDA q : q # r)

\* A request without a place stands behind all who wait.
IsAhead(q, r, inLine) ==
    r \in Range(inLine) => \E i, j \in DOMAIN inLine : i < j /\ inLine[i] = q /\ inLine[j] = r

\* The grants of others, or changed weights, give a caller that waits any other place (docs/who-is-next.md). A decision counts the
\* places as they are under the locks, until its commit.
Move(r) ==
    /\ r \in Range(line)
    /\ \A q \in Requests : tx[q] \in {"grant", "refuse"} => Names[q] \cap Names[r] = {}
    /\ \E i \in 0..Len(line) - 1 : line' = SubSeq(Without(r), 1, i) \o <<r>> \o SubSeq(Without(r), i + 1, Len(line) - 1)
    /\ UNCHANGED <<row, token, checked, locked, fence, recorded, tx, reclaims, client, used, uses, instance, lapsed, late, broken,
                   faults>>

\* What callers of other instances wait for that are ahead, and whose records are valid.
Withheld(r, s, inLine) ==
    Cardinality({q \in Requests : /\ HonoursQueue /\ recorded[q] /\ s \in Names[q]
                                  /\ Instance[q] # Instance[r]
                                  /\ IsAhead(q, r, inLine)
                                  /\ ~late[q]})

Fits(r, reclaimed, inLine) == \A s \in Names[r] : Held(s, reclaimed) + Withheld(r, s, inLine) < Capacity[s]

\* Sums what is held, as of this statement, and writes. A caller with a head start has a place at once, others have one once refused.
Decide(r) ==
    /\ tx[r] = "locking" /\ row[r] = "none"
    /\ LocksRow => \A s \in Names[r] : locked[s] = r
    /\ \E reclaimed \in {{}, {q \in Requests : IsReclaimable(q) /\ Names[q] \cap Names[r] # {}}} :
        /\ reclaims' = [reclaims EXCEPT ![r] = reclaimed]
        /\ \E inLine \in {line} \cup WithPlace(r) :
            IF Fits(r, reclaimed, inLine)
            THEN tx' = [tx EXCEPT ![r] = "grant"] /\ line' = inLine
            ELSE tx' = [tx EXCEPT ![r] = "refuse"] /\ line' \in WithPlace(r)
    /\ UNCHANGED <<row, token, checked, locked, fence, recorded, client, used, uses, instance, lapsed, late, broken, faults>>

Unlocked(r) == [s \in Semaphores |-> IF locked[s] = r THEN Nobody ELSE locked[s]]

\* A caller ahead, of another instance and with a valid record throughout, asks for what the commit takes.
Overtakes(r) ==
    \E q \in Requests : /\ recorded[q] /\ ~late[q] /\ Instance[q] # Instance[r]
                        /\ IsAhead(q, r, line)
                        /\ \E s \in Names[q] \cap Names[r] : Held(s, reclaims[r]) + 1 >= Capacity[s]

Reclaimed(r) == [q \in Requests |-> IF q \in reclaims[r] /\ row[q] = "held" THEN "released" ELSE row[q]]

\* The server commits. The caller is told, unless its connection was cut or its instance is gone.
Commit(r) ==
    /\ tx[r] \in {"grant", "refuse"}
    /\ IF tx[r] = "grant"
       THEN /\ row' = [Reclaimed(r) EXCEPT ![r] = "held"]
            /\ token' = [token EXCEPT ![r] = [s \in Semaphores |-> IF s \in Names[r] THEN fence[s] + 1 ELSE 0]]
            /\ fence' = [s \in Semaphores |->
                            IF RaisesFence /\ s \in Names[r] THEN fence[s] + TokensPerGrant ELSE fence[s]]
            /\ recorded' = [recorded EXCEPT ![r] = FALSE]
            /\ line' = Without(r)
            /\ broken' = IF Overtakes(r) THEN broken \cup {"a caller was overtaken"} ELSE broken
       ELSE /\ row' = Reclaimed(r)
            /\ recorded' = [recorded EXCEPT ![r] = TRUE]
            /\ UNCHANGED <<line, token, fence, broken>>
    /\ client' = [client EXCEPT ![r] =
                    IF client[r] # "asking" THEN client[r] ELSE IF tx[r] = "grant" THEN "holding" ELSE "waiting"]
    /\ tx' = [tx EXCEPT ![r] = "none"]
    /\ reclaims' = [reclaims EXCEPT ![r] = {}]
    /\ locked' = Unlocked(r)
    /\ UNCHANGED <<checked, used, uses, instance, lapsed, late, faults>>

\* A new caller of one semaphore is tried in one round trip: a text that the server executes to its end, also if the client has gone.
BeginText(r) ==
    /\ IsLive(r) /\ client[r] = "idle" /\ tx[r] = "none" /\ Cardinality(Names[r]) = 1
    /\ client' = [client EXCEPT ![r] = "asking"]
    /\ tx' = [tx EXCEPT ![r] = "text"]
    /\ UNCHANGED <<row, token, checked, locked, fence, line, recorded, reclaims, used, uses, instance, lapsed, late, broken,
                   faults>>

FitsText(r) ==
    /\ row[r] = "none"
    /\ \A s \in Names[r] : /\ Held(s, {}) < Capacity[s]
                           /\ RechecksWaiters => \A q \in Requests : ~(recorded[q] /\ ~late[q] /\ s \in Names[q])

\* It grants, or changes nothing, and the client begins again.
ExecuteText(r) ==
    /\ tx[r] = "text"
    /\ LocksRow => \A s \in Names[r] : locked[s] = r
    /\ IF FitsText(r)
       THEN /\ row' = [row EXCEPT ![r] = "held"]
            /\ token' = [token EXCEPT ![r] = [s \in Semaphores |-> IF s \in Names[r] THEN fence[s] + 1 ELSE 0]]
            /\ fence' = [s \in Semaphores |->
                            IF RaisesFence /\ s \in Names[r] THEN fence[s] + TokensPerGrant ELSE fence[s]]
            /\ broken' = IF Overtakes(r) THEN broken \cup {"a caller was overtaken"} ELSE broken
            /\ client' = [client EXCEPT ![r] = IF @ = "asking" THEN "holding" ELSE @]
            /\ tx' = [tx EXCEPT ![r] = "none"]
       ELSE /\ client' = [client EXCEPT ![r] = IF @ = "asking" THEN "idle" ELSE @]
            /\ tx' = [tx EXCEPT ![r] = "none"]
            /\ UNCHANGED <<row, token, fence, broken>>
    /\ locked' = Unlocked(r)
    /\ UNCHANGED <<checked, line, recorded, reclaims, used, uses, instance, lapsed, late, faults>>

\* The server notices that the connection is gone, or an undo has taken the external id.
RollBack(r) ==
    /\ tx[r] # "none"
    /\ client[r] # "asking" \/ ~IsLive(r) \/ row[r] # "none"
    /\ tx' = [tx EXCEPT ![r] = "none"]
    /\ reclaims' = [reclaims EXCEPT ![r] = {}]
    /\ locked' = Unlocked(r)
    /\ client' = [client EXCEPT ![r] = IF client[r] = "asking" THEN "unknown" ELSE client[r]]
    /\ UNCHANGED <<row, token, checked, fence, line, recorded, used, uses, instance, lapsed, late, broken, faults>>

--------------------------------------------------------------------------------
(* What callers and instances do besides. *)

\* Each use of a permit, the first and those by reuse, gets the next token of its range.
Use(r) ==
    /\ IsLive(r) /\ client[r] = "holding" /\ uses[r] < TokensPerGrant
    /\ LET tokens == {<<s, token[r][s] + uses[r]>> : s \in Names[r]}
       IN /\ broken' = IF tokens \cap used # {} THEN broken \cup {"a token was used twice"} ELSE broken
          /\ used' = used \cup tokens
    /\ uses' = [uses EXCEPT ![r] = @ + 1]
    /\ UNCHANGED <<row, token, checked, locked, fence, line, recorded, tx, reclaims, client, instance, lapsed, late, faults>>

\* requireHeld in a business transaction, which waits for a reclaim that is about to commit; otherwise it is refused.
Check(r) ==
    /\ IsLive(r) /\ client[r] = "holding" /\ row[r] = "held" /\ ~checked[r]
    /\ SkipsChecked => \A q \in Requests : r \notin reclaims[q]
    /\ checked' = [checked EXCEPT ![r] = TRUE]
    /\ UNCHANGED <<row, token, locked, fence, line, recorded, tx, reclaims, client, used, uses, instance, lapsed, late, broken,
                   faults>>

\* The business transaction commits what it has written.
EndCheck(r) ==
    /\ checked[r]
    /\ checked' = [checked EXCEPT ![r] = FALSE]
    /\ broken' = IF row[r] # "held" THEN broken \cup {"a stale write"} ELSE broken
    /\ UNCHANGED <<row, token, locked, fence, line, recorded, tx, reclaims, client, used, uses, instance, lapsed, late, faults>>

Release(r) ==
    /\ IsLive(r) /\ client[r] = "holding" /\ ~checked[r]
    /\ \A q \in Requests : r \notin reclaims[q]
    /\ row' = [row EXCEPT ![r] = IF @ = "held" THEN "released" ELSE @]
    /\ client' = [client EXCEPT ![r] = "ended"]
    /\ UNCHANGED <<token, checked, locked, fence, line, recorded, tx, reclaims, used, uses, instance, lapsed, late, broken,
                   faults>>

\* The outcome of an acquire is unknown. The unique key of the external id makes the undo wait for an insert under way.
Undo(r) ==
    /\ IsLive(r) /\ client[r] = "unknown"
    /\ ~(tx[r] = "grant" /\ LeavesTombstone)
    /\ row' = [row EXCEPT ![r] =
                IF @ = "held" THEN "released" ELSE IF @ = "none" /\ LeavesTombstone THEN "undone" ELSE @]
    /\ recorded' = [recorded EXCEPT ![r] = FALSE]
    /\ line' = IF tx[r] = "none" THEN Without(r) ELSE line
    /\ client' = [client EXCEPT ![r] = "ended"]
    /\ UNCHANGED <<token, checked, locked, fence, tx, reclaims, used, uses, instance, lapsed, late, broken, faults>>

\* The wait time is over, and the poll tells the other instances.
GiveUp(r) ==
    /\ IsLive(r) /\ client[r] = "waiting" /\ tx[r] = "none"
    /\ client' = [client EXCEPT ![r] = "ended"]
    /\ recorded' = [recorded EXCEPT ![r] = FALSE]
    /\ line' = Without(r)
    /\ UNCHANGED <<row, token, checked, locked, fence, tx, reclaims, used, uses, instance, lapsed, late, broken, faults>>

--------------------------------------------------------------------------------
(* Faults. *)

Fault == faults < MaxFaults /\ faults' = faults + 1

Cut(r) ==
    /\ Fault /\ tx[r] # "none" /\ client[r] = "asking"
    /\ client' = [client EXCEPT ![r] = "unknown"]
    /\ UNCHANGED <<row, token, checked, locked, fence, line, recorded, tx, reclaims, used, uses, instance, lapsed, late, broken>>

Stop(i, state) ==
    /\ Fault /\ instance[i] = "live"
    /\ instance' = [instance EXCEPT ![i] = state]
    /\ UNCHANGED <<row, token, checked, locked, fence, line, recorded, tx, reclaims, client, used, uses, lapsed, late, broken>>

Resume(i) ==
    /\ instance[i] = "frozen"
    /\ instance' = [instance EXCEPT ![i] = "live"]
    /\ UNCHANGED <<row, token, checked, locked, fence, line, recorded, tx, reclaims, client, used, uses, lapsed, late, broken,
                   faults>>

\* Without heartbeats for the instance timeout: what it held may be reclaimed. Its records in the queue expire before.
Lapse(i) ==
    /\ instance[i] # "live" /\ ~lapsed[i]
    /\ \A r \in Requests : Instance[r] = i /\ recorded[r] => late[r]
    /\ lapsed' = [lapsed EXCEPT ![i] = TRUE]
    /\ UNCHANGED <<row, token, checked, locked, fence, line, recorded, tx, reclaims, client, used, uses, instance, late, broken,
                   faults>>

\* Polls confirm the record of a caller that waits. One that was committed after its caller had gone is not confirmed.
ExpireRecord(r) ==
    /\ ~(IsLive(r) /\ client[r] \in {"waiting", "asking"}) /\ recorded[r] /\ ~late[r]
    /\ late' = [late EXCEPT ![r] = TRUE]
    /\ UNCHANGED <<row, token, checked, locked, fence, line, recorded, tx, reclaims, client, used, uses, instance, lapsed,
                   broken, faults>>

\* The server ends the business transaction of an instance that is gone.
AbortCheck(r) ==
    /\ checked[r] /\ instance[Instance[r]] = "dead"
    /\ checked' = [checked EXCEPT ![r] = FALSE]
    /\ UNCHANGED <<row, token, locked, fence, line, recorded, tx, reclaims, client, used, uses, instance, lapsed, late, broken,
                   faults>>

\* The sweep.
Sweep(r) ==
    /\ IsReclaimable(r) /\ \A q \in Requests : r \notin reclaims[q]
    /\ row' = [row EXCEPT ![r] = "released"]
    /\ UNCHANGED <<token, checked, locked, fence, line, recorded, tx, reclaims, client, used, uses, instance, lapsed, late,
                   broken, faults>>

--------------------------------------------------------------------------------
Step(r) ==
    \/ Begin(r) \/ BeginText(r) \/ ExecuteText(r) \/ Decide(r) \/ Commit(r) \/ RollBack(r) \/ (\E s \in Semaphores : Lock(r, s))
    \/ Check(r) \/ EndCheck(r) \/ AbortCheck(r) \/ Release(r) \/ Undo(r) \/ Sweep(r)

\* Everything has ended, and no permit is held. Any other state without a next one is a deadlock, which TLC reports.
Done ==
    /\ \A r \in Requests : row[r] # "held" /\ tx[r] = "none" /\ (client[r] = "ended" \/ lapsed[Instance[r]])
                           /\ (recorded[r] => late[r])
    /\ UNCHANGED vars

Next ==
    \/ Done
    \/ \E r \in Requests : Step(r) \/ Move(r) \/ Use(r) \/ GiveUp(r) \/ Cut(r) \/ ExpireRecord(r)
    \/ \E i \in Instances : Stop(i, "dead") \/ Stop(i, "frozen") \/ Resume(i) \/ Lapse(i)

Spec == Init /\ [][Next]_vars

--------------------------------------------------------------------------------
(* The promises. *)

NeverOverCapacity == \A s \in Semaphores : Held(s, {}) <= Capacity[s]

NothingBroken == broken = {}

\* A permit of a live instance that no caller knows of would be kept alive indefinitely.
NoPermitLost == \A r \in Requests : row[r] = "held" /\ ~lapsed[Instance[r]] /\ instance[Instance[r]] # "dead"
                    => client[r] \in {"holding", "unknown"}

\* Tokens rise in the order of the commits: the highest is that of the last grant.
TokensRise == \A r \in Requests, s \in Semaphores : row[r] = "held" => token[r][s] <= fence[s]
================================================================================
