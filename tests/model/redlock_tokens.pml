/* Redlock's tokens: the two-phase counter on three nodes.
 *
 * Protocol. Phase 1 is one script per node: SET K c NX PX; if K was set, INCR N; it returns N. R is
 * the set of nodes whose reply the client has read. With a majority in R, the token t is the
 * smallest number such that a majority of R replied t or less. Phase 2 goes to the nodes of R that
 * replied less than t: if K = c, then N = max(N, t). The claim is granted when a majority of all
 * nodes, all in R, have N >= t and the claim's deadline has not passed.
 * A node that restarts empty has no N. Phase 1 sets K there, but the node does not vote until it
 * has been up for the longest ttl and a client has then set its N to the largest N of a majority of
 * all nodes. Nodes without N do not count in that majority.
 *
 * Modelled: a request is executed at any time after the earlier ones, or never. A reply is read at
 * any time, or never. Requests outlive a restart of their node. A key expires, or is released, at
 * any time. The counters start at any values from 1 to SKEW, in any order of nodes, because other
 * names count in the same N.
 *
 * Abstracted: time. A key that expires ends its claim's deadline, because clients count their
 * deadline from before the first request; a node that has been up for the longest ttl has outlived
 * every claim that began before its restart. A busy reply counts as a request that never arrives.
 * A granted claim renews nothing. Other names do not count while the claims run.
 *
 * Properties:
 *   default     Each grant has a larger token than all grants before it, in the order of the
 *               moments at which clients conclude that they have the lock. RESTARTS=n: nodes
 *               restart empty n times.
 *   UNTIMED     Without deadlines, as if every clock were wrong: a claim whose first key is set
 *               after a grant has a larger token, and no two grants have the same token. This
 *               holds only if R is exactly a majority. THIRD_REPLY admits a third node to R, and
 *               two claims then get the same token: each sets its key first on one of two nodes,
 *               both keys expire, and each sets its key on the other node.
 *
 * Mutants, each of which violates a property:
 *   NO_PHASE_2             the grant does not require N >= t on a majority
 *   UNCONDITIONAL_PHASE_2  phase 2 does not check K = c
 *   PHASE_2_OUTSIDE_R      phase 2 goes to every node
 *   EMPTY_NODE_VOTES       a node without N counts from 0 and votes
 *   EARLY_RAISE            the N of an empty node is read from the others before it has been up for
 *                          the longest ttl
 *   NO_WAIT_AFTER_RESTART  an empty node is raised and votes before it has been up for the longest
 *                          ttl: after FLUSHALL, or because it keeps an AOF
 *   NO_DEADLINE            the grant does not check the deadline
 *
 * Larger runs, all without a violation: 3 claims and a restart, SKEW=1 (25 million states); UNTIMED
 * with 3 claims, SKEW=2 (8 million).
 */
#ifndef CLAIMS
#define CLAIMS 2
#endif
#ifndef SKEW
#define SKEW 2
#endif
#ifndef RESTARTS
#define RESTARTS 0
#endif
#define NODES 3
#define MAJORITY 2

/* In these conditions c is a claim and n a node. */
#ifdef NO_PHASE_2
#define IS_HELD_BY_MAJORITY true
#else
#define IS_HELD_BY_MAJORITY (COUNT(IS_HOLDING) >= MAJORITY)
#endif
#ifdef UNCONDITIONAL_PHASE_2
#define IS_STILL_OURS true
#else
#define IS_STILL_OURS (key[n] == c)
#endif
#ifdef PHASE_2_OUTSIDE_R
#define IS_IN_R true
#else
#define IS_IN_R (vote[c].at[n] == BEHIND)
#endif
#ifdef EMPTY_NODE_VOTES
#define HAS_COUNTER true
#else
#define HAS_COUNTER (counter[n] != 0)
#endif
#ifdef EARLY_RAISE
#define MAY_RAISE true
#else
#define MAY_RAISE is_up[n]
#endif
#ifdef NO_WAIT_AFTER_RESTART
#define WAITS false
#else
#define WAITS true
#endif
#if defined(UNTIMED) || defined(NO_DEADLINE)
#define IS_VALID true
#else
#define IS_VALID (!is_over[c])
#endif
#if defined(UNTIMED) && !defined(THIRD_REPLY)
#define LARGEST_R MAJORITY
#else
#define LARGEST_R NODES
#endif

#define COUNT(test) (test(0) + test(1) + test(2))
#define HAS_VOTED(node) (vote[c].at[node] != NONE)
#define IS_HOLDING(node) (vote[c].at[node] == HOLDS)

typedef per_node { byte at[NODES] }

#define FREE CLAIMS
byte key[NODES] = FREE;    /* the claim whose K is set */
byte counter[NODES];       /* N; 0: the node has none */
bool is_up[NODES] = true;  /* for the longest ttl */

#define NONE 0
#define BEHIND 1           /* in R, replied less than the token */
#define HOLDS 2            /* in R, has the token or more */
per_node vote[CLAIMS];     /* until R is closed: the reply of phase 1; then NONE, BEHIND or HOLDS */
bool has_begun[CLAIMS];    /* a first key was set */
bool is_closed[CLAIMS];    /* R and the token are known */
bool is_over[CLAIMS];      /* the deadline has passed */
bool is_granted[CLAIMS];
byte token[CLAIMS];

byte largest_token;        /* of all grants */
byte floor[CLAIMS];        /* UNTIMED: largest_token when the claim began */

byte restarts;
bool began_before[CLAIMS]; /* the restart */
bool is_read[NODES];       /* for the raise of the empty node's counter */
byte largest_read;

#define RAISE(variable, value) if :: variable < value -> variable = value :: else fi

/* The requests of claim c to node n: phase 1, then phase 2. */
proctype requests(byte c; byte n) {
  end_1: atomic {
    key[n] == FREE && (c == 0 || has_begun[c - 1]) ->
    key[n] = c;
#ifdef UNTIMED
    if :: !has_begun[c] -> floor[c] = largest_token :: else fi;
#endif
    has_begun[c] = true;
    if
    :: HAS_COUNTER ->
       counter[n]++;
       if
       :: is_up[n] && !is_closed[c] && IS_VALID -> vote[c].at[n] = counter[n]
       :: else
       fi
    :: else
    fi
  }
  end_2: atomic {
    is_closed[c] && !IS_HOLDING(n) && IS_IN_R && IS_STILL_OURS ->
    RAISE(counter[n], token[c]);
    vote[c].at[n] = HOLDS
  }
  end_3: false
}

/* The claim closes R over some of the replies and computes the token. Later it is granted. */
proctype claimant(byte c) {
  byte n, m, count;
  end_1: atomic {
    IS_VALID && COUNT(HAS_VOTED) >= MAJORITY ->
    do  /* some replies are not read */
    :: COUNT(HAS_VOTED) > MAJORITY ->
       if
       :: HAS_VOTED(0) -> vote[c].at[0] = NONE
       :: HAS_VOTED(1) -> vote[c].at[1] = NONE
       :: HAS_VOTED(2) -> vote[c].at[2] = NONE
       fi
    :: COUNT(HAS_VOTED) <= LARGEST_R -> break
    od;
    token[c] = 255;
    for (n : 0 .. NODES - 1) {
      count = 0;
      for (m : 0 .. NODES - 1) {
        if
        :: HAS_VOTED(m) && vote[c].at[m] <= vote[c].at[n] -> count++
        :: else
        fi
      }
      if
      :: count >= MAJORITY && vote[c].at[n] < token[c] -> token[c] = vote[c].at[n]
      :: else
      fi
    }
    for (n : 0 .. NODES - 1) {
      if
      :: HAS_VOTED(n) -> vote[c].at[n] = (vote[c].at[n] < token[c] -> BEHIND : HOLDS)
      :: else
      fi
    }
    is_closed[c] = true;
    n = 0; m = 0; count = 0
  }
  end_2: atomic {
    is_closed[c] && IS_VALID && IS_HELD_BY_MAJORITY ->
#ifdef UNTIMED
    assert(token[c] > floor[c]);
    for (n : 0 .. CLAIMS - 1) { assert(!is_granted[n] || token[n] != token[c]) }
    n = 0;
#else
    assert(token[c] > largest_token);
#endif
    is_granted[c] = true;
    RAISE(largest_token, token[c])
  }
  end_3: false
}

inline pass_deadline(c) {
  is_over[c] = true;
  if
  :: !is_closed[c] -> vote[c].at[0] = NONE; vote[c].at[1] = NONE; vote[c].at[2] = NONE
  :: else
  fi
}

#define MAY_READ(m) (counter[n] == 0 && MAY_RAISE && counter[m] != 0 && !is_read[m])
#define IS_READ(m) is_read[m]
#define READ(m) is_read[m] = true; RAISE(largest_read, counter[m])

proctype node(byte n) {
  byte c;
  end: do
  :: atomic {  /* the key expires, or its claim releases it */
       key[n] != FREE ->
#ifndef UNTIMED
       pass_deadline(key[n]);
#endif
       key[n] = FREE
     }
#if RESTARTS
  :: atomic {
       restarts < RESTARTS ->
       restarts++;
       key[n] = FREE; counter[n] = 0; is_up[n] = !WAITS;
       for (c : 0 .. CLAIMS - 1) { began_before[c] = has_begun[c] }
       c = 0
     }
  :: atomic {
       !is_up[n] ->
       is_up[n] = true;
       for (c : 0 .. CLAIMS - 1) {
         if :: began_before[c] -> pass_deadline(c) :: else fi;
         began_before[c] = false
       }
       c = 0
     }
  :: atomic { MAY_READ(0) -> READ(0) }
  :: atomic { MAY_READ(1) -> READ(1) }
  :: atomic { MAY_READ(2) -> READ(2) }
  :: atomic {
       counter[n] == 0 && COUNT(IS_READ) >= MAJORITY ->
       counter[n] = largest_read;
       largest_read = 0; is_read[0] = false; is_read[1] = false; is_read[2] = false
     }
#endif
  od
}

init {
  byte n, c;
  atomic {
    for (n : 0 .. NODES - 1) {  /* in falling order: the nodes are alike */
      if
      :: n == 0 -> select(c : 1 .. SKEW)
      :: else ->
         c = counter[n - 1];
         do
         :: c > 1 -> c--
         :: break
         od
      fi;
      counter[n] = c
    }
    for (c : 0 .. CLAIMS - 1) {
      run claimant(c);
      for (n : 0 .. NODES - 1) { run requests(c, n) }
    }
    for (n : 0 .. NODES - 1) { run node(n) }
    n = 0; c = 0
  }
}
