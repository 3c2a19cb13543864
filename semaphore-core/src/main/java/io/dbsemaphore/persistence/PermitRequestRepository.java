package io.dbsemaphore.persistence;

import java.util.Collection;
import java.util.List;
import org.springframework.data.domain.Limit;
import org.springframework.data.jpa.repository.Modifying;
import org.springframework.data.jpa.repository.Query;
import org.springframework.data.repository.Repository;

/** What the maintenance looks for and deletes. */
interface PermitRequestRepository extends Repository<PermitRequest, Long> {

    @Query("select distinct r.owner from PermitRequest r where r.state = ACQUIRED")
    List<String> findOwners();

    @Query("""
            select r.id from PermitRequest r
            where r.id <= :upTo and r.state = RELEASED and r.updatedAt <= utc_plus_millis(:minusMillis)
            order by r.id""")
    List<Long> findReleasedBefore(long upTo, long minusMillis, Limit limit);

    /** Deletes released requests, whose permits must have been deleted before. */
    @Modifying
    @Query("delete from PermitRequest r where r.id in :ids and r.state = RELEASED")
    int deleteReleased(Collection<Long> ids);

    /**
     * The released requests that still hold permits of these semaphores, a state that no transaction of the library leaves.
     */
    @Query("""
            select distinct r.id from Permit p join PermitRequest r on r.id = p.requestId
            where p.semaphoreId in :semaphoreIds and p.state = ACQUIRED and r.state = RELEASED""")
    List<Long> findHalfReleased(Collection<Long> semaphoreIds, Limit limit);
}
