// Locks for node at the work of the benchmarks: LIBRARY PORT[,PORT...] WORK SECONDS; prints cycles
// per second. Several ports are the masters of a Redlock. Packages come from NODE_PATH.
'use strict';
const { fork } = require('node:child_process');
const Redis = require('ioredis');

const [library, ports, work, seconds, part] = process.argv.slice(2);
const length = Number(seconds) * 1000;
const ttl = 30000;
const warmUp = 1000;

const makers = {
  'redis-semaphore': ([redis]) => {
    const { Mutex } = require('redis-semaphore');
    return async (name) => {
      const lock = new Mutex(redis, name, { lockTimeout: ttl, acquireTimeout: 60000 });
      await lock.acquire();
      return () => lock.release();
    };
  },
  redlock: (masters) => {
    const { default: Redlock } = require('redlock');
    const all = new Redlock(masters, { retryCount: -1, automaticExtensionThreshold: 500 });
    all.on('error', () => {});
    // Between its own retries redlock keeps the votes of a failed attempt. On several masters the
    // contenders would block each other until these votes expire. There, each attempt is a call of
    // its own, and the pauses between them are the default ones of redlock, 100 to 300 ms.
    const settings = masters.length > 1 ? { retryCount: 0 } : {};
    return async (name) => {
      for (;;) {
        try {
          const lock = await all.acquire([name], ttl, settings);
          return () => lock.release();
        } catch {
          await new Promise((resolve) => setTimeout(resolve, 100 + Math.random() * 200));
        }
      }
    };
  },
};

const connect = () => ports.split(',').map((port) => new Redis({ port: Number(port) }));

// Counts the cycles that end between the two times.
async function run(masters, names, from, until) {
  const acquire = makers[library](masters);
  let done = 0;
  await Promise.all(
    names.map(async (name) => {
      while (Date.now() < until) {
        const release = await acquire(name);
        await release();
        const now = Date.now();
        if (from <= now && now < until) ++done;
      }
    }),
  );
  masters.forEach((master) => master.disconnect());
  return done;
}

// A process of one-lock: reports that it is connected, and counts in the window that it receives.
async function contend() {
  const masters = connect();
  process.once('message', async ({ from, until }) => {
    const count = await run(masters, ['peer', 'peer', 'peer', 'peer'], from, until);
    process.send(count, () => process.disconnect());
  });
  await Promise.all(masters.map((master) => master.ping()));
  process.send('connected');
}

// The window opens when all processes are connected and have been warmed up.
async function oneLock() {
  const children = [1, 2, 3, 4].map((i) => fork(__filename, [...process.argv.slice(2), `${i}`]));
  const next = () =>
    Promise.all(children.map((child) => new Promise((resolve) => child.once('message', resolve))));
  await next();
  const from = Date.now() + warmUp;
  const counts = next();
  children.forEach((child) => child.send({ from, until: from + length }));
  return (await counts).reduce((sum, count) => sum + count, 0);
}

async function main() {
  if (part) return contend();
  const count = work === 'own-locks' ? 64 : 1;
  const names = Array.from({ length: count }, (_, i) => `peer/${i}`);
  const from = Date.now() + warmUp;
  const done =
    work === 'one-lock' ? await oneLock() : await run(connect(), names, from, from + length);
  console.log(done / (length / 1000));
}

main();
