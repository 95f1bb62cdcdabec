// The servers that a URL of holdfast names: redis://HOST:PORT,
// redis+sentinel://HOST:PORT,.../MASTER or redis+cluster://HOST:PORT,...
import java.util.Arrays;
import org.redisson.config.BaseMasterSlaveServersConfig;
import org.redisson.config.Config;
import org.redisson.config.ReadMode;
import org.redisson.config.SubscriptionMode;

final class Deployment {
  private static final String SENTINEL = "redis+sentinel://";
  private static final String CLUSTER = "redis+cluster://";
  private static final int IDLE_MAX = 24; // as many as Redisson keeps by itself

  // `connections`: to each server; 0: as many as Redisson opens by itself.
  static void use(Config config, String url, int connections) {
    if (url.startsWith(SENTINEL)) {
      String[] parts = url.substring(SENTINEL.length()).split("/");
      useMasters(config.useSentinelServers().setMasterName(parts[1])
          .addSentinelAddress(addresses(parts[0])), connections);
    } else if (url.startsWith(CLUSTER)) {
      useMasters(config.useClusterServers()
          .addNodeAddress(addresses(url.substring(CLUSTER.length()))), connections);
    } else {
      var server = config.useSingleServer().setAddress(url);
      if (connections > 0) {
        server.setConnectionMinimumIdleSize(Math.min(connections, IDLE_MAX))
            .setConnectionPoolSize(connections);
      }
    }
  }

  private static String[] addresses(String list) {
    return Arrays.stream(list.split(",")).map(each -> "redis://" + each).toArray(String[]::new);
  }

  // Replicas return values that are older than what the owner of a lock has read and written.
  private static void useMasters(BaseMasterSlaveServersConfig<?> servers, int connections) {
    servers.setReadMode(ReadMode.MASTER);
    servers.setSubscriptionMode(SubscriptionMode.MASTER);
    if (connections > 0) {
      servers.setMasterConnectionMinimumIdleSize(Math.min(connections, IDLE_MAX));
      servers.setMasterConnectionPoolSize(connections);
    }
  }
}
