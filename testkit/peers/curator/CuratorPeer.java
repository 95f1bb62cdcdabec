// The real Curator, driven by the commands of CommandLoop.java.
//
//   open HOST:PORT,... [session=MS] [namespace=NAME]   comes first: the id of its session, in hex
//   close             closes the session
//   kill              ends the session at the server, as its expiry would; Curator opens another
//   session           the id of the session that it has now
//   asleep THREAD     whether that thread waits for its turn, and not for the reply to a request
//   version           of Curator; unknown: its jars, Debian's, do not say
//
// Locks.java has the verbs of locks, Nodes.java those of bare nodes, Contenders.java and Drain.java the
// ones of benchmarks.
import java.util.Arrays;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import org.apache.curator.framework.CuratorFramework;
import org.apache.curator.framework.CuratorFrameworkFactory;
import org.apache.curator.retry.ExponentialBackoffRetry;
import org.apache.zookeeper.Watcher.Event.KeeperState;
import org.apache.zookeeper.ZooKeeper;

public final class CuratorPeer extends CommandLoop {
  private final Map<String, CuratorFramework> clients = new ConcurrentHashMap<>();
  private final Locks locks = new Locks();

  public static void main(String[] arguments) throws Exception {
    new CuratorPeer().run();
  }

  @Override
  Object perform(String name, String thread, String verb, String[] words) throws Exception {
    if (verb.equals("version")) return version();
    if (verb.equals("open")) {
      clients.put(name, open(words));
      return session(clients.get(name));
    }
    CuratorFramework client = clients.get(name);
    if (client == null) throw new IllegalArgumentException("there is no client " + name);
    switch (verb) {
      case "close":
        client.close();
        return "";
      case "kill":
        kill(client.getZookeeperClient().getZooKeeper(), client);
        return "";
      case "session":
        return session(client);
      case "asleep":
        return isAsleep(thread(name, words[0]));
      case "contenders":
        return Contenders.run(client, words);
      case "drain":
        return Drain.run(client, words);
      default:
        return Nodes.has(verb) ? Nodes.perform(client, verb, words)
            : locks.perform(client, name, thread, verb, words);
    }
  }

  private static String version() {
    String version = CuratorFramework.class.getPackage().getImplementationVersion();
    return version == null ? "unknown" : version;
  }

  // Without the tracker, which would leave a proxy for the addresses that the servers give.
  static CuratorFramework open(String[] words) throws Exception {
    var builder = CuratorFrameworkFactory.builder()
                      .connectString(words[0])
                      .retryPolicy(new ExponentialBackoffRetry(50, 8))
                      .ensembleTracker(false);
    for (int i = 1; i < words.length; ++i) {
      String[] option = words[i].split("=");
      switch (option[0]) {
        case "session":
          builder.sessionTimeoutMs(Integer.parseInt(option[1]));
          break;
        case "namespace":
          builder.namespace(option[1]);
          break;
        default:
          throw new IllegalArgumentException("there is no option " + option[0]);
      }
    }
    CuratorFramework client = builder.build();
    client.start();
    client.blockUntilConnected();
    return client;
  }

  private static String session(CuratorFramework client) throws Exception {
    return "0x" + Long.toHexString(client.getZookeeperClient().getZooKeeper().getSessionId());
  }

  // Another connection takes the session over and closes it.
  private static void kill(ZooKeeper victim, CuratorFramework client) throws Exception {
    var attached = new CountDownLatch(1);
    var other = new ZooKeeper(client.getZookeeperClient().getCurrentConnectionString(),
        victim.getSessionTimeout(), event -> {
          if (event.getState() == KeeperState.SyncConnected) attached.countDown();
        }, victim.getSessionId(), victim.getSessionPasswd());
    attached.await();
    other.close();
  }

  // In a wait() that a lock has called itself.
  private static boolean isAsleep(Thread thread) {
    String[] frames = Arrays.stream(thread.getStackTrace())
                          .map(StackTraceElement::getClassName)
                          .toArray(String[]::new);
    int caller = 0;
    while (caller < frames.length && frames[caller].equals("java.lang.Object")) ++caller;
    return caller > 0 && caller < frames.length && frames[caller].contains(".recipes.locks.");
  }
}
