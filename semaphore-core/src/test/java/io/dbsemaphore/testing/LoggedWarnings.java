package io.dbsemaphore.testing;

import ch.qos.logback.classic.Level;
import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.core.read.ListAppender;
import java.util.List;
import org.slf4j.LoggerFactory;

/** Collects what a class, or a package, of the library warns of. */
public final class LoggedWarnings {

    private LoggedWarnings() {}

    /** The warnings that a logger gets while the work runs; they are not printed. */
    public static List<String> of(Class<?> source, Runnable work) {
        return of(source.getName(), work);
    }

    /** As {@link #of(Class, Runnable)}, by the name of the logger. */
    public static List<String> of(String source, Runnable work) {
        Logger logger = (Logger) LoggerFactory.getLogger(source);
        ListAppender<ILoggingEvent> appender = new ListAppender<>();
        appender.start();
        logger.addAppender(appender);
        logger.setAdditive(false);
        try {
            work.run();
        } finally {
            logger.setAdditive(true);
            logger.detachAppender(appender);
        }
        return appender.list.stream()
                .filter(event -> event.getLevel() == Level.WARN)
                .map(ILoggingEvent::getFormattedMessage)
                .toList();
    }
}
