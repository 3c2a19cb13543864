package io.dbsemaphore.boot.autoconfigure;

import io.dbsemaphore.admin.SemaphoreName;
import java.net.InetAddress;
import java.net.UnknownHostException;
import org.springframework.core.env.Environment;
import org.springframework.util.StringUtils;

/** The default owner of this application instance: {@code application@host:pid}. */
final class InstanceOwner {

    private static final int MAX_HOST = 120;

    private InstanceOwner() {}

    static String of(Environment environment) {
        return of(
                environment.getProperty("spring.application.name", ""),
                host(),
                ProcessHandle.current().pid());
    }

    /** Always returns a valid owner: characters that are not allowed are removed, and long names truncated. */
    static String of(String application, String host, long pid) {
        String instance = "@%s:%d".formatted(cut(clean(host), MAX_HOST), pid);
        String name = clean(application);
        return cut(name.isEmpty() ? "application" : name, SemaphoreName.MAX_LENGTH - instance.length()) + instance;
    }

    private static String clean(String text) {
        return text.replaceAll("[\\p{Cc}\\p{Cs}]", "").strip();
    }

    private static String cut(String text, int length) {
        if (text.length() <= length) {
            return text;
        }
        return text.substring(0, Character.isHighSurrogate(text.charAt(length - 1)) ? length - 1 : length);
    }

    /** The host name from the environment: a look-up may take seconds if name resolution is not configured. */
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
