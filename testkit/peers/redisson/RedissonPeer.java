// The real Redisson, driven by commands of one line each on standard input:
//
//   ID CLIENT THREAD VERB WORD...
//
// CLIENT is a Redisson client of its own, hence another owner to its server, and THREAD one of its
// threads, because Redisson's locks belong to threads. A thread executes its commands in order; a
// command that blocks holds up no other thread. The answer is one line on standard output:
//
//   ID NANOSECONDS ok TEXT         or         ID NANOSECONDS failed EXCEPTION: TEXT
//
// NANOSECONDS is CLOCK_MONOTONIC when the command ended. `open URL [OPTION=NUMBER]...` comes first,
// `close` stops a client without releasing anything: to the server it crashed. `asleep THREAD` says
// whether that thread waits for a message. Locks.java has the verbs of locks, Permits.java those of
// semaphores, Crowd.java the one of benchmarks.
import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import org.redisson.Redisson;
import org.redisson.api.RedissonClient;
import org.redisson.config.Config;

public final class RedissonPeer {
  private static final PrintStream out = new PrintStream(System.out, true, StandardCharsets.UTF_8);
  private static final Map<String, RedissonClient> clients = new ConcurrentHashMap<>();
  private static final Map<String, ExecutorService> executors = new HashMap<>();
  private static final Map<String, Thread> threads = new ConcurrentHashMap<>();

  public static void main(String[] arguments) throws Exception {
    var in = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
    for (String line; (line = in.readLine()) != null;) {
      String[] words = line.split(" ");
      String thread = words[1] + "/" + words[2];
      executors.computeIfAbsent(thread, RedissonPeer::executor)
          .execute(() -> answer(words[0], words));
    }
    System.exit(0);
  }

  private static ExecutorService executor(String name) {
    return Executors.newSingleThreadExecutor(work -> {
      threads.put(name, new Thread(work));
      return threads.get(name);
    });
  }

  // Whether a thread waits for a message about its lock, and not for the reply to a command.
  private static boolean isAsleep(Thread thread) {
    return Arrays.stream(thread.getStackTrace())
        .anyMatch(frame -> frame.getClassName().equals("java.util.concurrent.Semaphore"));
  }

  private static void answer(String id, String[] words) {
    String text;
    try {
      text = "ok " + perform(words[1], words[3], Arrays.copyOfRange(words, 4, words.length));
    } catch (Throwable e) {
      text = "failed " + e.getClass().getSimpleName() + ": " + e.getMessage();
    }
    long ended = System.nanoTime();
    synchronized (out) {
      out.println(id + " " + ended + " " + text.replace('\n', ' '));
    }
  }

  private static Object perform(String name, String verb, String[] words) throws Exception {
    if (verb.equals("open")) {
      clients.put(name, open(words));
      return clients.get(name).getId();
    }
    RedissonClient client = clients.get(name);
    if (client == null) throw new IllegalArgumentException("there is no client " + name);
    switch (verb) {
      case "close":
        client.shutdown(0, 2, TimeUnit.SECONDS);
        return "";
      case "thread":
        return Thread.currentThread().getId();
      case "asleep":
        return isAsleep(threads.get(name + "/" + words[0]));
      case "crowd":
        return Crowd.run(client, words);
      default:
        return words[0].equals("permits") ? Permits.perform(client, verb, words)
            : Locks.perform(client, verb, words);
    }
  }

  private static RedissonClient open(String[] words) {
    var config = new Config();
    var server = config.useSingleServer().setAddress(words[0]);
    for (int i = 1; i < words.length; ++i) {
      String[] option = words[i].split("=");
      int number = Integer.parseInt(option[1]);
      switch (option[0]) {
        case "watchdog":
          config.setLockWatchdogTimeout(number);
          break;
        case "fairwait":
          config.setFairLockWaitTimeout(number);
          break;
        case "connections":
          server.setConnectionMinimumIdleSize(Math.min(number, 24)).setConnectionPoolSize(number);
          break;
        default:
          throw new IllegalArgumentException("there is no option " + option[0]);
      }
    }
    return Redisson.create(config);
  }
}
