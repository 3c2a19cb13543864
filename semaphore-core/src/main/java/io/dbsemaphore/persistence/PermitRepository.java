package io.dbsemaphore.persistence;

import jakarta.persistence.LockModeType;
import jakarta.persistence.QueryHint;
import java.util.Collection;
import java.util.List;
import org.hibernate.Timeouts;
import org.hibernate.jpa.SpecHints;
import org.springframework.data.jpa.repository.Lock;
import org.springframework.data.jpa.repository.Modifying;
import org.springframework.data.jpa.repository.Query;
import org.springframework.data.jpa.repository.QueryHints;
import org.springframework.data.repository.Repository;

interface PermitRepository extends Repository<Permit, Long> {

    record NamedPermit(long requestId, long id, String name, int capacity, int count, long token) {}

    @Query("""
            select new io.dbsemaphore.persistence.PermitRepository$NamedPermit(
                p.requestId, p.id, s.name, s.capacity, p.count, p.token)
            from Permit p join Semaphore s on s.id = p.semaphoreId
            where p.requestId in :requestIds
            order by p.id""")
    List<NamedPermit> findByRequests(Collection<Long> requestIds);

    /** Releases the permits of a request, in the transaction that releases the request. */
    @Modifying
    @Query("update Permit p set p.state = RELEASED where p.requestId = :requestId and p.state = ACQUIRED")
    int releaseByRequest(long requestId);

    @Query("select new io.dbsemaphore.persistence.PermitRepository$Owned(p.id, p.requestId)"
            + " from Permit p where p.requestId in :requestIds and p.state = ACQUIRED")
    List<Owned> findHeld(Collection<Long> requestIds);

    @Query("select p.requestId from Permit p"
            + " where p.requestId in :requestIds and p.semaphoreId in :semaphoreIds and p.state = ACQUIRED")
    List<Long> findRequestsHolding(Collection<Long> requestIds, Collection<Long> semaphoreIds);

    record Owned(long id, long requestId) {}

    /** Locks the held permits of these requests that no other transaction has locked. */
    @Lock(LockModeType.PESSIMISTIC_WRITE)
    @QueryHints(@QueryHint(name = SpecHints.HINT_SPEC_LOCK_TIMEOUT, value = "" + Timeouts.SKIP_LOCKED_MILLI))
    @Query("select p from Permit p where p.requestId in :requestIds and p.state = ACQUIRED order by p.id")
    List<Permit> lockHeld(Collection<Long> requestIds);

    /** Releases the permits of these requests, in the transaction that releases the requests. */
    @Modifying
    @Query("update Permit p set p.state = RELEASED where p.requestId in :requestIds and p.state = ACQUIRED")
    int releaseByRequests(Collection<Long> requestIds);

    @Modifying
    @Query("delete from Permit p where p.requestId in :requestIds and p.state = RELEASED")
    int deleteReleased(Collection<Long> requestIds);
}
