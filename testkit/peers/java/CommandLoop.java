// Drives a library by commands of one line each on standard input:
//
//   ID CLIENT THREAD VERB WORD...
//
// CLIENT is a client of the library of its own, hence another owner to its server, and THREAD one of
// its threads, because the locks belong to threads. A thread executes its commands in order; a
// command that blocks holds up no other thread. The answer is one line on standard output:
//
//   ID NANOSECONDS ok TEXT         or         ID NANOSECONDS failed EXCEPTION: TEXT
//
// NANOSECONDS is CLOCK_MONOTONIC when the command ended.
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

abstract class CommandLoop {
  private final PrintStream out = new PrintStream(System.out, true, StandardCharsets.UTF_8);
  private final Map<String, ExecutorService> executors = new HashMap<>();
  private final Map<String, Thread> threads = new ConcurrentHashMap<>();

  // Returns the answer's text. Called on the thread that the command names.
  abstract Object perform(String client, String thread, String verb, String[] words)
      throws Exception;

  // Until standard input ends; ends the JVM.
  final void run() throws Exception {
    var in = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
    for (String line; (line = in.readLine()) != null;) {
      String[] words = line.split(" ");
      executors.computeIfAbsent(words[1] + "/" + words[2], this::executor)
          .execute(() -> answer(words));
    }
    System.exit(0);
  }

  final Thread thread(String client, String name) {
    return threads.get(client + "/" + name);
  }

  private ExecutorService executor(String name) {
    return Executors.newSingleThreadExecutor(work -> {
      threads.put(name, new Thread(work));
      return threads.get(name);
    });
  }

  private void answer(String[] words) {
    String text;
    try {
      text = "ok "
          + perform(words[1], words[2], words[3], Arrays.copyOfRange(words, 4, words.length));
    } catch (Throwable e) {
      text = "failed " + e.getClass().getSimpleName() + ": " + e.getMessage();
    }
    long ended = System.nanoTime();
    synchronized (out) {
      out.println(words[0] + " " + ended + " " + text.replace('\n', ' '));
    }
  }
}
