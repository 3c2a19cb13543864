/**
 * The fault suite: processes that use this library on a real database, both under attack, and an oracle that knows only what the
 * processes were told and when. {@code FaultRun} is one run. What the oracle concludes is in {@code oracle}, what a process does in
 * {@code client}, the attacks on them in {@code attack}; {@code witness} replays the server's binary log, {@code report} shows the
 * result.
 */
@NullMarked
package io.dbsemaphore.tools.faults;

import org.jspecify.annotations.NullMarked;
