package main

import (
	"errors"
	"net"
	"os"
	"os/exec"
	"strconv"
	"syscall"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"
	"go.etcd.io/etcd/client/v3/concurrency"
)

const (
	sessionSeconds = 30
	startBound     = 30 * time.Second
)

type etcdLibrary struct{ client *clientv3.Client }

func (e *etcdLibrary) connect(addresses []string) error {
	client, err := clientv3.New(clientv3.Config{Endpoints: addresses, DialTimeout: startBound})
	e.client = client
	return err
}

// Mutexes of one session and one name would be one holder: each worker has a session.
func (e *etcdLibrary) lock(name string) (lock, error) {
	session, err := concurrency.NewSession(e.client, concurrency.WithTTL(sessionSeconds))
	if err != nil {
		return nil, err
	}
	return concurrency.NewMutex(session, "/"+name), nil
}

// A server with its data in a temporary folder. It syncs each write to the disk.
type etcdServer struct {
	command      *exec.Cmd
	folder, port string
}

func freePort() (string, error) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "", err
	}
	defer listener.Close()
	return strconv.Itoa(listener.Addr().(*net.TCPAddr).Port), nil
}

func startEtcd() (*etcdServer, error) {
	program, err := exec.LookPath("etcd")
	if err != nil {
		return nil, errors.New("etcd is not installed: install etcd-server")
	}
	port, err := freePort()
	if err != nil {
		return nil, err
	}
	peers, err := freePort()
	if err != nil {
		return nil, err
	}
	folder, err := os.MkdirTemp("", "holdfast-etcd-")
	if err != nil {
		return nil, err
	}
	of := func(port string) string { return "http://127.0.0.1:" + port }
	command := exec.Command(program, "--data-dir", folder, "--log-level", "error",
		"--listen-client-urls", of(port), "--advertise-client-urls", of(port),
		"--listen-peer-urls", of(peers), "--initial-advertise-peer-urls", of(peers),
		"--initial-cluster", "default="+of(peers))
	command.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	server := &etcdServer{command, folder, port}
	if err := command.Start(); err != nil {
		os.RemoveAll(folder)
		return nil, err
	}
	return server, server.waitUntilItListens()
}

func (s *etcdServer) waitUntilItListens() error {
	for end := time.Now().Add(startBound); time.Now().Before(end); {
		connection, err := net.Dial("tcp", "127.0.0.1:"+s.port)
		if err == nil {
			return connection.Close()
		}
		time.Sleep(20 * time.Millisecond)
	}
	s.stop()
	return errors.New("etcd did not start")
}

func (s *etcdServer) stop() {
	s.command.Process.Kill()
	s.command.Wait()
	os.RemoveAll(s.folder)
}
