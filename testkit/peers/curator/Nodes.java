// VERB PATH ...: bare nodes, by another client than the one that is tried.
import java.util.Collections;
import java.util.List;
import java.util.Set;
import org.apache.curator.framework.CuratorFramework;
import org.apache.zookeeper.CreateMode;
import org.apache.zookeeper.data.Stat;

final class Nodes {
  private static final Set<String> verbs =
      Set.of("children", "data", "owner", "create", "set", "delete");

  static boolean has(String verb) {
    return verbs.contains(verb);
  }

  static Object perform(CuratorFramework client, String verb, String[] words) throws Exception {
    String path = words[0];
    switch (verb) {
      case "children": // in the order of their names; `-`: there is no such node
        return children(client, path);
      case "data":
        return new String(client.getData().forPath(path));
      case "owner": // the session of an ephemeral node, else 0x0
        return "0x" + Long.toHexString(client.checkExists().forPath(path).getEphemeralOwner());
      case "create": // PATH MODE [DATA]
        return client.create().creatingParentsIfNeeded().withMode(CreateMode.valueOf(words[1]))
            .forPath(path, (words.length > 2 ? words[2] : "").getBytes());
      case "set":
        client.setData().forPath(path, words[1].getBytes());
        return "";
      default:
        client.delete().forPath(path);
        return "";
    }
  }

  private static String children(CuratorFramework client, String path) throws Exception {
    Stat stat = client.checkExists().forPath(path);
    if (stat == null) return "-";
    List<String> names = client.getChildren().forPath(path);
    Collections.sort(names);
    return String.join(" ", names);
  }
}
