/* ZooKeeper's lock: a queue of ephemeral sequential nodes, and deadlines of sessions.
 *
 * Protocol. A client creates a node with the next sequence and lists the nodes. If its node is the
 * first, it has the lock. Otherwise it watches the nearest node ahead and its own node. When the
 * node ahead ends, the client has the lock if that was the only node ahead in its list; otherwise
 * it lists again. It also lists again when the node to watch no longer exists, when its own node
 * has ended, and after the connection was interrupted and the watches were set again. A release and
 * a cancelled wait delete the node. The server ends a session that sends nothing for too long, and
 * deletes its node. The client's deadline for its session comes before that. From then on the
 * client does not rely on that session: a holder has lost the lock, and a waiter opens a new
 * session and queues again.
 *
 * Modelled: three clients, each with one acquire. Requests are executed at any time after they were
 * sent. Replies and events arrive at any time. FAULTS times, a client dies, the deadline of a
 * session passes, a connection is interrupted, a waiter cancels, or another program deletes the
 * node of a waiter. The server ends a session at any time after its client has died or its deadline
 * has passed, so a waiter may find its own earlier node ahead of the new one.
 *
 * Abstracted: how the client computes its deadline (docs/zookeeper.md, "What a session
 * guarantees"). The model assumes that the deadline comes before the end of the session. A list
 * shows the current nodes; a list from a server that lags is a late reply. A client watches one
 * node ahead, not three. Replies are not lost: the client would find its node by its GUID.
 * Sequences have no limit. Another program that deletes the node of a holder is left out, because
 * the lock then has two holders for a moment.
 *
 * Properties:
 *   - At most one client believes that it holds the lock.
 *   - No wake-up is lost: when nothing more happens, every client has had the lock, has cancelled,
 *     or is dead. Every run comes to that point, because there is no cycle of states.
 *
 * Mutants, each of which violates a property:
 *   NO_DEADLINE              a holder believes that it has the lock after the deadline
 *   GRANT_AFTER_DEADLINE     a grant is not compared with the deadline
 *   EVENT_ALWAYS_GRANTS      the end of the node ahead grants the lock although others were ahead
 *   OWN_END_UNSEEN           the end of the own node is not considered
 *   ABSENT_NODE_AWAITED      the client waits although the node to watch does not exist
 *   WATCHES_NOT_SET_AGAIN    an interruption of the connection ends the watches
 *   WAITER_NOT_QUEUED_AGAIN  a waiter whose deadline has passed opens no new session
 *
 * A larger run without a violation: FAULTS=3 (16 million states).
 */
#ifndef FAULTS
#define FAULTS 2
#endif
#define CLIENTS 3
#define SESSIONS (CLIENTS + FAULTS)

#ifdef NO_DEADLINE
#define HAS_DEADLINE false
#else
#define HAS_DEADLINE true
#endif
#ifdef GRANT_AFTER_DEADLINE
#define IS_VALID true
#else
#define IS_VALID (!is_past[s])
#endif
#ifdef EVENT_ALWAYS_GRANTS
#define GRANTS true
#else
#define GRANTS is_only
#endif
#ifdef OWN_END_UNSEEN
#define OWN_HAS_ENDED false
#else
#define OWN_HAS_ENDED own_event[s]
#endif
#ifdef ABSENT_NODE_AWAITED
#define IS_ABSENT false
#else
#define IS_ABSENT (!does_exist)
#endif
#ifdef WATCHES_NOT_SET_AGAIN
#define SETS_WATCHES false
#else
#define SETS_WATCHES true
#endif
#ifdef WAITER_NOT_QUEUED_AGAIN
#define QUEUES_AGAIN false
#else
#define QUEUES_AGAIN true
#endif

byte last_sequence;
byte first;                 /* the sequence of the first node; 0: there is no node */
byte node[SESSIONS];        /* the sequence of the session's node; 0: it has none */
byte watch[SESSIONS];       /* the sequence of the node ahead that the session watches */
bool event[SESSIONS];       /* of the node ahead, not yet read */
bool own_event[SESSIONS];   /* of the own node, not yet read */
bool is_past[SESSIONS];     /* the client's deadline, or the client is dead */
bool has_ended[SESSIONS];   /* at the server */
byte client_of[SESSIONS];
byte sessions = CLIENTS;    /* that were opened */

bool believes[CLIENTS];
bool is_served[CLIENTS];    /* had the lock, cancelled or died */
byte faults;

#define HAS_FAULT (faults < FAULTS)

/* The nearest node ahead, and whether it is the only one. */
inline find_ahead(s) {
  d_step {
    ahead = 0;
    count = 0;
    for (i : 0 .. SESSIONS - 1) {
      if
      :: node[i] != 0 && node[i] < node[s] ->
         count++;
         if
         :: node[i] > ahead -> ahead = node[i]
         :: else
         fi
      :: else
      fi
    }
    is_only = (count == 1);
    count = 0;
    i = 0
  }
}

inline find_node(sequence) {
  d_step {
    does_exist = false;
    for (i : 0 .. SESSIONS - 1) { does_exist = does_exist || node[i] == sequence }
    i = 0
  }
}

inline remove_node(s) {
  d_step {
    first = 0;
    for (i : 0 .. SESSIONS - 1) {
      if
      :: node[s] != 0 && watch[i] == node[s] -> watch[i] = 0; event[i] = true
      :: else
      fi;
      if
      :: i != s && node[i] != 0 && (first == 0 || node[i] < first) -> first = node[i]
      :: else
      fi
    }
    i = 0;
    node[s] = 0
  }
}

inline hold(c) {
  assert(!believes[0] && !believes[1] && !believes[2]);
  believes[c] = true
}

/* The states of a claim, in order: its node is created, the nodes are listed, the node ahead is
 * watched, the client waits for an event.
 */
proctype client(byte c) {
  byte s = c, ahead, count, i;
  bool is_only, does_exist;

create:
  if
  :: atomic {
       !is_past[s] && last_sequence >= c ->  /* the clients are alike: in their order */
       last_sequence++;
       node[s] = last_sequence;
       if :: first == 0 -> first = last_sequence :: else fi
     }
  :: is_past[s] -> goto renew
  fi;

list:
  if
  :: atomic { !has_ended[s] && node[s] != 0 -> find_ahead(s) }
  :: atomic { !has_ended[s] && node[s] == 0 -> goto create }
  :: is_past[s] -> goto renew
  fi;
  if
  :: ahead != 0
  :: atomic { ahead == 0 && IS_VALID -> hold(c) }; goto held
  :: is_past[s] -> goto renew
  fi;

  if
  :: atomic {
       !has_ended[s] ->
       own_event[s] = false;
       event[s] = false;
       find_node(ahead);
       if
       :: node[s] == 0 -> does_exist = false; goto create
       :: node[s] != 0 && IS_ABSENT -> does_exist = false; goto list
       :: else -> watch[s] = (does_exist -> ahead : 0); does_exist = false
       fi
     }
  :: is_past[s] -> goto renew
  fi;

  do
  :: atomic { OWN_HAS_ENDED -> own_event[s] = false; goto list }
  :: atomic { event[s] && !OWN_HAS_ENDED && GRANTS && IS_VALID -> event[s] = false; hold(c) };
     goto held
  :: atomic { event[s] && !OWN_HAS_ENDED && !GRANTS -> event[s] = false; goto list }
  :: is_past[s] && QUEUES_AGAIN -> goto renew
  :: atomic {  /* the connection is interrupted; the session is attached to another one */
       HAS_FAULT && !has_ended[s] ->
       faults++;
       find_node(ahead);
       event[s] = SETS_WATCHES && !does_exist;
       own_event[s] = SETS_WATCHES && node[s] == 0;
       watch[s] = (SETS_WATCHES && does_exist -> ahead : 0);
       does_exist = false;
       is_only = false  /* the event grants nothing */
     }
  :: atomic { HAS_FAULT -> faults++; goto leave }  /* it cancels */
  :: atomic { HAS_FAULT -> faults++; goto die }
  od;

renew:
  atomic {
    event[s] = false;
    own_event[s] = false;
    s = sessions;
    sessions++;
    client_of[s] = c;
    goto create
  }

held:
  if
  :: atomic { believes[c] = false }
  :: atomic { HAS_FAULT -> faults++; believes[c] = false; goto die }
  fi;

leave:
  atomic { watch[s] = 0; remove_node(s); is_served[c] = true };
  end_1: false;

die:
  atomic { is_past[s] = true; is_served[c] = true };
  end_2: false
}

proctype session(byte s) {
  byte i;
  end: do
  :: atomic {  /* the deadline passes */
       HAS_FAULT && s < sessions && !is_past[s] && !is_served[client_of[s]] ->
       faults++;
       is_past[s] = true;
       if
       :: HAS_DEADLINE -> believes[client_of[s]] = false
       :: else
       fi
     }
  :: atomic {  /* the server ends the session */
       is_past[s] && !has_ended[s] ->
       has_ended[s] = true;
       watch[s] = 0;
       remove_node(s)
     }
  :: atomic {  /* another program deletes the node, which is not the first one */
       HAS_FAULT && node[s] != 0 && node[s] != first ->
       faults++;
       remove_node(s);
       own_event[s] = !has_ended[s]
     }
  od
}

proctype judge() {
  timeout -> assert(is_served[0] && is_served[1] && is_served[2])
}

init {
  byte s;
  atomic {
    for (s : 0 .. CLIENTS - 1) { client_of[s] = s; run client(s) }
    for (s : 0 .. SESSIONS - 1) { run session(s) }
    run judge();
    s = 0
  }
}
