package main

import (
	"context"
	"math"
	"time"

	"github.com/go-redsync/redsync/v4"
	"github.com/go-redsync/redsync/v4/redis"
	"github.com/go-redsync/redsync/v4/redis/goredis/v9"
	goredislib "github.com/redis/go-redis/v9"
)

const ttl = 30 * time.Second

// Several addresses are the masters of a Redlock.
type redsyncLibrary struct{ locks *redsync.Redsync }

func (r *redsyncLibrary) connect(addresses []string) error {
	var pools []redis.Pool
	for _, address := range addresses {
		client := goredislib.NewClient(&goredislib.Options{Addr: address, PoolSize: 64})
		if err := client.Ping(context.Background()).Err(); err != nil {
			return err
		}
		pools = append(pools, goredis.NewPool(client))
	}
	r.locks = redsync.New(pools...)
	return nil
}

// The pauses between two attempts are the default ones of redsync, 50 to 250 ms.
func (r *redsyncLibrary) lock(name string) (lock, error) {
	options := []redsync.Option{redsync.WithExpiry(ttl), redsync.WithTries(math.MaxInt32)}
	return redsyncLock{r.locks.NewMutex(name, options...)}, nil
}

type redsyncLock struct{ mutex *redsync.Mutex }

func (l redsyncLock) Lock(ctx context.Context) error { return l.mutex.LockContext(ctx) }

func (l redsyncLock) Unlock(ctx context.Context) error {
	_, err := l.mutex.UnlockContext(ctx)
	return err
}
