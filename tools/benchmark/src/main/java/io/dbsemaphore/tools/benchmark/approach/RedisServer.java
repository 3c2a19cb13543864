package io.dbsemaphore.tools.benchmark.approach;

import java.util.Map;
import org.redisson.Redisson;
import org.redisson.api.RedissonClient;
import org.redisson.api.redisnode.RedisMaster;
import org.redisson.api.redisnode.RedisNode;
import org.redisson.api.redisnode.RedisNodes;
import org.redisson.config.Config;

/** A Redis, as it describes itself. */
public final class RedisServer {

    private RedisServer() {}

    /** Asks for its version and for the settings that decide what it remembers after a crash. */
    public static String describe(String address) {
        Config config = new Config();
        config.useSingleServer().setAddress(address);
        RedissonClient client = Redisson.create(config);
        try {
            RedisMaster server = client.getRedisNodes(RedisNodes.SINGLE).getInstance();
            String version = server.info(RedisNode.InfoSection.SERVER).get("redis_version");
            return "Redis %s (appendonly=%s, save='%s')"
                    .formatted(version, setting(server, "appendonly"), setting(server, "save"));
        } finally {
            client.shutdown();
        }
    }

    private static String setting(RedisMaster server, String name) {
        Map<String, String> found = server.getConfig(name);
        return found.getOrDefault(name, "");
    }
}
