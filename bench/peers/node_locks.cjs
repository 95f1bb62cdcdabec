// Locks for node at the work of the benchmarks: LIBRARY PORT WORK SECONDS; prints cycles per
// second. Packages come from NODE_PATH.
'use strict';
const { fork } = require('node:child_process');
const Redis = require('ioredis');

const [library, port, work, seconds, part] = process.argv.slice(2);
const length = Number(seconds) * 1000;
const ttl = 30000;

const makers = {
  'redis-semaphore': (redis) => {
    const { Mutex } = require('redis-semaphore');
    return async (name) => {
      const lock = new Mutex(redis, name, { lockTimeout: ttl, acquireTimeout: 60000 });
      await lock.acquire();
      return () => lock.release();
    };
  },
  redlock: (redis) => {
    const { default: Redlock } = require('redlock');
    const all = new Redlock([redis], { retryCount: -1, automaticExtensionThreshold: 500 });
    all.on('error', () => {});
    return async (name) => {
      const lock = await all.acquire([name], ttl);
      return () => lock.release();
    };
  },
};

async function run(names) {
  const redis = new Redis({ port: Number(port) });
  const acquire = makers[library](redis);
  const until = Date.now() + length;
  let done = 0;
  await Promise.all(
    names.map(async (name) => {
      while (Date.now() < until) {
        const release = await acquire(name);
        await release();
        ++done;
      }
    }),
  );
  redis.disconnect();
  return done;
}

async function main() {
  if (part) return process.send(await run(['peer', 'peer', 'peer', 'peer']));
  let done = 0;
  if (work === 'one-lock') {
    const ends = [0, 1, 2, 3].map(
      (i) =>
        new Promise((resolve) => {
          const child = fork(__filename, [library, port, work, seconds, String(i + 1)]);
          child.on('message', (count) => (done += count));
          child.on('exit', resolve);
        }),
    );
    await Promise.all(ends);
  } else {
    const count = work === 'own-locks' ? 64 : 1;
    done = await run(Array.from({ length: count }, (_, i) => `peer/${i}`));
  }
  console.log(done / (length / 1000));
}

main();
