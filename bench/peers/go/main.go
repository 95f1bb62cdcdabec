// Locks for Go at the work of the benchmarks: LIBRARY PORT[,PORT...] WORK SECONDS; prints cycles per
// second. LIBRARY is redsync or etcd. For etcd the program starts a server of its own.
package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"log"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"sync"
	"time"
)

const warmUp = time.Second

// A lock as one worker uses it.
type lock interface {
	Lock(context.Context) error
	Unlock(context.Context) error
}

type library interface {
	connect(addresses []string) error
	lock(name string) (lock, error)
}

func libraryOf(name string) (library, error) {
	switch name {
	case "redsync":
		return &redsyncLibrary{}, nil
	case "etcd":
		return &etcdLibrary{}, nil
	}
	return nil, errors.New("there is no library " + name)
}

func addresses(ports string) []string {
	var all []string
	for _, port := range strings.Split(ports, ",") {
		all = append(all, "127.0.0.1:"+port)
	}
	return all
}

// Counts the cycles that end between the two times.
func run(locks []lock, from, until time.Time) (int, error) {
	var group sync.WaitGroup
	counts := make([]int, len(locks))
	failures := make([]error, len(locks))
	for i := range locks {
		group.Add(1)
		go func(i int) {
			defer group.Done()
			for ctx := context.Background(); time.Now().Before(until); {
				if failures[i] = locks[i].Lock(ctx); failures[i] != nil {
					return
				}
				if failures[i] = locks[i].Unlock(ctx); failures[i] != nil {
					return
				}
				if now := time.Now(); now.After(from) && now.Before(until) {
					counts[i]++
				}
			}
		}(i)
	}
	group.Wait()
	sum := 0
	for i := range counts {
		if failures[i] != nil {
			return 0, failures[i]
		}
		sum += counts[i]
	}
	return sum, nil
}

func connected(name, ports string, names []string) ([]lock, error) {
	from, err := libraryOf(name)
	if err == nil {
		err = from.connect(addresses(ports))
	}
	var locks []lock
	for _, name := range names {
		if err != nil {
			break
		}
		var one lock
		one, err = from.lock(name)
		locks = append(locks, one)
	}
	return locks, err
}

// A process of one-lock: connects, reports that, and counts in the window that it reads.
func contend(name, ports string) error {
	locks, err := connected(name, ports, []string{"peer", "peer", "peer", "peer"})
	if err != nil {
		return err
	}
	fmt.Println("connected")
	var from, until int64
	if _, err = fmt.Scan(&from, &until); err != nil {
		return err
	}
	count, err := run(locks, time.UnixMicro(from), time.UnixMicro(until))
	if err == nil {
		fmt.Println(count)
	}
	return err
}

type child struct {
	command *exec.Cmd
	input   io.Writer
	output  *bufio.Scanner
}

func startContender(name, ports string) (child, error) {
	c := child{command: exec.Command(os.Args[0], name, ports, "contend", "0")}
	c.command.Stderr = os.Stderr
	input, err := c.command.StdinPipe()
	if err != nil {
		return c, err
	}
	output, err := c.command.StdoutPipe()
	if err != nil {
		return c, err
	}
	c.input, c.output = input, bufio.NewScanner(output)
	return c, c.command.Start()
}

func oneLock(name, ports string, length time.Duration) (int, error) {
	var all []child
	for i := 0; i < 4; i++ {
		c, err := startContender(name, ports)
		if err != nil {
			return 0, err
		}
		all = append(all, c)
	}
	for _, c := range all {
		if !c.output.Scan() {
			return 0, errors.New("a process of the contenders did not connect")
		}
	}
	from := time.Now().Add(warmUp)
	for _, c := range all {
		fmt.Fprintln(c.input, from.UnixMicro(), from.Add(length).UnixMicro())
	}
	sum := 0
	for _, c := range all {
		c.output.Scan()
		count, err := strconv.Atoi(c.output.Text())
		if err == nil {
			err = c.command.Wait()
		}
		if err != nil {
			return 0, err
		}
		sum += count
	}
	return sum, nil
}

func measure(name, ports, work string, length time.Duration) (int, error) {
	if work == "one-lock" {
		return oneLock(name, ports, length)
	}
	names := []string{"peer"}
	if work == "own-locks" {
		names = nil
		for i := 0; i < 64; i++ {
			names = append(names, fmt.Sprintf("peer/%d", i))
		}
	}
	locks, err := connected(name, ports, names)
	if err != nil {
		return 0, err
	}
	from := time.Now().Add(warmUp)
	return run(locks, from, from.Add(length))
}

func perform(name, ports, work, seconds string) error {
	if work == "contend" {
		return contend(name, ports)
	}
	length, err := time.ParseDuration(seconds + "s")
	if err != nil {
		return err
	}
	if name == "etcd" {
		server, err := startEtcd()
		if err != nil {
			return err
		}
		defer server.stop()
		ports = server.port
	}
	done, err := measure(name, ports, work, length)
	if err == nil {
		fmt.Println(float64(done) / length.Seconds())
	}
	return err
}

func main() {
	log.SetFlags(0)
	if len(os.Args) != 5 {
		log.Fatal("usage: locks LIBRARY PORT[,PORT...] WORK SECONDS")
	}
	if err := perform(os.Args[1], os.Args[2], os.Args[3], os.Args[4]); err != nil {
		log.Fatal(err)
	}
}
