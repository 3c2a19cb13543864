package io.dbsemaphore.boot.autoconfigure;

import io.dbsemaphore.SemaphoreName;
import java.net.InetAddress;
import java.net.UnknownHostException;
import org.springframework.core.env.Environment;
import org.springframework.util.StringUtils;

/** The name under which this instance of the application holds permits: {@code application@host:pid}. */
final class InstanceOwner {

    private static final int MAX_HOST = 120;

    private InstanceOwner() {}

    static String of(Environment environment) {
        return of(
                environment.getProperty("spring.application.name", ""),
                host(),
                ProcessHandle.current().pid());
    }

    /** Always a valid owner: what does not fit is cut off or left out. */
    static String of(String application, String host, long pid) {
        String instance = "@%s:%d".formatted(cut(clean(host), MAX_HOST), pid);
        String name = clean(application);
        return cut(name.isEmpty() ? "application" : name, SemaphoreName.MAX_LENGTH - instance.length()) + instance;
    }

    private static String clean(String text) {
        return text.codePoints()
                .filter(c -> !Character.isISOControl(c) && Character.getType(c) != Character.SURROGATE)
                .collect(StringBuilder::new, StringBuilder::appendCodePoint, StringBuilder::append)
                .toString()
                .strip();
    }

    private static String cut(String text, int length) {
        if (text.length() <= length) {
            return text;
        }
        return text.substring(0, Character.isHighSurrogate(text.charAt(length - 1)) ? length - 1 : length);
    }

    /** What the platform says: a look-up by name may take seconds where the network is not set up for it. */
    private static String host() {
        for (String variable : new String[] {"HOSTNAME", "COMPUTERNAME"}) {
            String host = System.getenv(variable);
            if (StringUtils.hasText(host)) {
                return host;
            }
        }
        try {
            return InetAddress.getLocalHost().getHostName();
        } catch (UnknownHostException unknown) {
            return "localhost";
        }
    }
}
