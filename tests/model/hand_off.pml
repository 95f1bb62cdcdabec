/* The hand-over of layout `string`: a release makes the next waiter the owner and publishes it.
 *
 * Protocol. A server has the lock's key with its owner, a queue, and the clients that listen for
 * messages. A claim takes a free key (try_lock), or sends lock_or_queue, which grants the lock or
 * enqueues the claim. A release, and the withdrawal of a cancelled claim, hand the lock to the
 * first waiter whose client listens; those before it leave the queue. The new owner gets a message.
 * A waiter that no message reaches sends lock_or_queue again: every waiter has a timer for the end
 * of the lease that it waits for.
 *
 * Modelled: three claims of three clients, each with one acquire. Requests are executed at any time
 * after they were sent. Replies and messages arrive at any time and in any order. FAULTS times, a
 * client dies, a reply or a message is lost, a client stops listening and then listens and sends
 * its request again, a lease ends although its client is alive, or a waiter cancels. The server
 * counts a dead client as a listener until it notices.
 *
 * Abstracted: time. A key that expires ends its claim's deadline first. A grant that arrives after
 * its deadline is known to be late. A timer fires when the lease has ended, when the claim has the
 * lock without knowing, or when it is no longer queued. A window and a full lease are alike, as are
 * a renewed lease and one that has not ended. A claim that is enqueued again is the last one.
 * Tokens, readers, permits and foreign holders are left out.
 *
 * Properties:
 *   - At most one claim believes that it holds the lock.
 *   - No wake-up is lost: when nothing more happens, every claim has had the lock, was cancelled,
 *     or is dead. Every run comes to that point, because there is no cycle of states.
 *   - The lock is handed to no claim whose client does not listen.
 *   - After a release or a withdrawal, that claim does not own the lock.
 *
 * Mutants, each of which violates a property:
 *   RELEASE_WITHOUT_OWNER   a release does not compare the owner
 *   LATE_GRANT_ACCEPTED     the client does not compare a grant with its deadline
 *   NO_DEADLINE             a holder believes that it has the lock after the deadline
 *   UNHEARD_GRANT           a hand-over does not check that the client listens
 *   GRANT_NOT_PASSED_ON     a withdrawal does not check that the claim owns the lock
 *   NO_TIMER                a waiter relies on its message
 *   ONLY_FIRST_HAS_TIMER    only the first waiter has a timer
 *
 * A larger run without a violation: FAULTS=5 (9 million states).
 */
#ifndef CLAIMS
#define CLAIMS 3
#endif
#ifndef FAULTS
#define FAULTS 3
#endif

/* In these conditions c is a claim. */
#ifdef RELEASE_WITHOUT_OWNER
#define IS_OWNER_OF_RELEASE true
#else
#define IS_OWNER_OF_RELEASE (owner == c)
#endif
#ifdef LATE_GRANT_ACCEPTED
#define IS_IN_TIME(message) true
#else
#define IS_IN_TIME(message) (message != LATE)
#endif
#ifdef NO_DEADLINE
#define HAS_DEADLINE false
#else
#define HAS_DEADLINE true
#endif
#ifdef UNHEARD_GRANT
#define IS_HEARD true
#else
#define IS_HEARD listens[first]
#endif
#ifdef GRANT_NOT_PASSED_ON
#define IS_OWNER_OF_WITHDRAWAL false
#else
#define IS_OWNER_OF_WITHDRAWAL (owner == c)
#endif
#ifdef NO_TIMER
#define HAS_TIMER false
#elif defined(ONLY_FIRST_HAS_TIMER)
#define HAS_TIMER (IS_FIRST(c) || !IS_ENQUEUED(c))
#else
#define HAS_TIMER true
#endif

#define FREE CLAIMS
byte owner = FREE;
byte place[CLAIMS];           /* in the queue, from 1; 0: not enqueued */
byte length;
bool listens[CLAIMS] = true;  /* as the server sees it */

#define NONE 0
#define QUEUED 1
#define GRANTED 2
#define LATE 3                /* granted, and the deadline has passed */
byte reply[CLAIMS];
byte message[CLAIMS];

bool believes[CLAIMS];
bool is_dead[CLAIMS];
bool has_left[CLAIMS];        /* released or withdrawn */
byte faults;

#define IS_ENQUEUED(claim) (place[claim] != 0)
#define IS_FIRST(claim) (place[claim] == 1)
#define HAS_FAULT (faults < FAULTS)

inline remove_from_queue(c) {
  if
  :: IS_ENQUEUED(c) ->
     for (other : 0 .. CLAIMS - 1) {
       if
       :: place[other] > place[c] -> place[other]--
       :: else
       fi
     }
     other = 0;
     place[c] = 0;
     length--
  :: else
  fi
}

inline hand_over() {
  do
  :: length == 0 -> owner = FREE; break
  :: else ->
     first = (IS_FIRST(0) -> 0 : (IS_FIRST(1) -> 1 : 2));
     remove_from_queue(first);
     if
     :: IS_HEARD ->
        assert(listens[first]);
        owner = first;
        message[first] = GRANTED;
        break
     :: else
     fi
  od;
  first = 0
}

inline lock_or_queue(c) {
  if
  :: owner == c
  :: owner == FREE && (length == 0 || IS_FIRST(c)) -> remove_from_queue(c); owner = c
  :: else ->
     if
     :: IS_ENQUEUED(c)
     :: else -> length++; place[c] = length
     fi;
     if
     :: owner == FREE -> hand_over()
     :: else
     fi
  fi;
  reply[c] = (owner == c -> GRANTED : QUEUED)
}

inline release(c) {
  if
  :: IS_OWNER_OF_RELEASE -> hand_over()
  :: else ->
     if
     :: IS_ENQUEUED(c) && owner == FREE -> remove_from_queue(c); hand_over()
     :: else -> remove_from_queue(c)
     fi
  fi
}

inline withdraw(c) {
  was_first = IS_FIRST(c);
  remove_from_queue(c);
  if
  :: IS_OWNER_OF_WITHDRAWAL || (owner == FREE && was_first) -> hand_over()
  :: else
  fi;
  was_first = false
}

/* A grant by reply or by message. */
inline take(grant) {
  if
  :: grant == QUEUED -> grant = NONE
  :: grant != QUEUED && IS_IN_TIME(grant) ->
     assert(!believes[0] && !believes[1] && !believes[2]);
     believes[c] = true;
     grant = NONE;
     goto hold
  :: else -> grant = NONE; is_asking = true
  fi
}

#define TIMER_ENDS (owner == FREE || owner == c || !IS_ENQUEUED(c))

proctype claimant(byte c) {
  byte first, other;
  bool was_first, is_asking;
  if
  :: atomic { owner == FREE -> owner = c; reply[c] = GRANTED }  /* try_lock */
  :: is_asking = true
  fi;
  do
  :: atomic { is_asking -> lock_or_queue(c); is_asking = false }
  :: atomic { reply[c] != NONE -> take(reply[c]) }
  :: atomic { message[c] != NONE -> take(message[c]) }
  :: atomic { !is_asking && reply[c] == NONE && HAS_TIMER && TIMER_ENDS -> is_asking = true }
  :: atomic { HAS_FAULT && reply[c] != NONE -> faults++; reply[c] = NONE; is_asking = true }
  :: atomic { HAS_FAULT && message[c] != NONE -> faults++; message[c] = NONE }
  :: atomic { HAS_FAULT && listens[c] -> faults++; listens[c] = false; message[c] = NONE }
  :: atomic { !listens[c] -> listens[c] = true; is_asking = true }
  :: atomic { HAS_FAULT -> faults++; goto dead }
  :: atomic { HAS_FAULT -> faults++; goto cancel }
  od;

hold:
  if
  :: atomic { HAS_FAULT -> faults++; believes[c] = false; goto dead }
  :: believes[c] = false
  fi;
  atomic {  /* the release was sent, and is executed */
    if
    :: is_asking -> lock_or_queue(c); is_asking = false  /* sent before on the same connection */
    :: else
    fi;
    release(c);
    goto left
  }

cancel:
  atomic {
    if
    :: is_asking -> lock_or_queue(c); is_asking = false
    :: else
    fi;
    withdraw(c)
  }

left:
  atomic {
    assert(owner != c);
    has_left[c] = true;
    reply[c] = NONE;
    message[c] = NONE
  }
  end_1: false;

dead:
  atomic {
    is_dead[c] = true;
    reply[c] = NONE;
    message[c] = NONE
  }
  end_2: atomic { is_asking -> lock_or_queue(c); reply[c] = NONE; is_asking = false }
  end_3: false
}

#define IS_UNAWARE(claim) \
  (!believes[claim] && reply[claim] != GRANTED && message[claim] != GRANTED)

proctype server() {
  end: do
  :: atomic {  /* the key expires */
       owner != FREE && (is_dead[owner] || IS_UNAWARE(owner) || HAS_FAULT) ->
       if
       :: is_dead[owner] || IS_UNAWARE(owner)
       :: else -> faults++
       fi;
       if
       :: HAS_DEADLINE -> believes[owner] = false
       :: else
       fi;
       if :: reply[owner] == GRANTED -> reply[owner] = LATE :: else fi;
       if :: message[owner] == GRANTED -> message[owner] = LATE :: else fi;
       owner = FREE
     }
  :: atomic { is_dead[0] && listens[0] -> listens[0] = false }
  :: atomic { is_dead[1] && listens[1] -> listens[1] = false }
  :: atomic { is_dead[2] && listens[2] -> listens[2] = false }
  od
}

#define IS_SERVED(claim) (has_left[claim] || is_dead[claim])

proctype judge() {
  timeout -> assert(IS_SERVED(0) && IS_SERVED(1) && IS_SERVED(2))
}

init {
  atomic { run claimant(0); run claimant(1); run claimant(2); run server(); run judge() }
}
