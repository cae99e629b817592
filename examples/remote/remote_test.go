package main

import (
	"bufio"
	"io"
	"net"
	"os"
	"os/exec"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/stretchr/testify/require"

	"coatcheck/examples/internal/jobs"
	"coatcheck/internal/check/testkit"
)

// TestMain is the command itself in the processes that tests start.
func TestMain(m *testing.M) {
	const variable = "COATCHECK_REMOTE"
	if os.Getenv(variable) != "" {
		main()
	} else if os.Setenv(variable, "yes") == nil {
		os.Exit(m.Run())
	}
}

// plain starts a server that does not tell of connections that end.
func plain(t *testing.T, port int) *server.Server {
	s, err := server.NewServer(&server.Options{Host: "127.0.0.1", Port: port, NoSigs: true, NoLog: true})
	require.NoError(t, err)
	t.Cleanup(s.Shutdown)
	s.Start()
	require.True(t, s.ReadyForConnections(time.Minute))
	return s
}

// small are packages that take little time.
var small = []string{"math/cmplx", "unicode", "unicode/utf16", "image/color", "container/list"}

// start makes a coordinator. If there is no url, it has the program's own server.
func start(t *testing.T, url string, deadline time.Duration, patterns ...string) *coordinator {
	if url == "" {
		s, own, err := serve()
		require.NoError(t, err)
		t.Cleanup(s.Shutdown)
		url = own
	}
	units, err := jobs.Load(t.Context(), patterns, io.Discard)
	require.NoError(t, err)
	c, err := newCoordinator(url, deadline, units)
	require.NoError(t, err)
	t.Cleanup(c.nc.Close)
	return c
}

// join starts a worker in this process, which calls before each time before it answers.
func join(t *testing.T, c *coordinator, name string, before func(again func() error)) {
	w, err := newWorker(c.url, name)
	require.NoError(t, err)
	w.publish = func(reply string, data []byte) error {
		send := func() error { return w.nc.Publish(reply, data) }
		before(send)
		return send()
	}
	var ended sync.WaitGroup
	ended.Go(func() { _ = w.work(patience) })
	t.Cleanup(func() {
		w.nc.Close()
		ended.Wait()
	})
}

// soundly answers once, and at once.
func soundly(func() error) {}

// finds requires that the run ends as that of one process, and does each package once.
func finds(t *testing.T, c *coordinator, workers int) {
	one := jobs.NewChecker(c.units)
	_, err := jobs.Schedule(t.Context(), c.units, 2, one)
	require.NoError(t, err)
	testkit.Within(t, func() { require.NoError(t, c.coordinate(t.Context(), workers, io.Discard)) })
	require.Equal(t, one.Digests(), c.digests)
	require.EqualValues(t, len(c.units), c.done.Load())
}

func TestTwoProcessesFindWhatOneFinds(t *testing.T) {
	c := start(t, "", time.Hour, "fmt")
	finds(t, c, 2)
	require.Zero(t, c.retried.Load()+c.refused.Load())
}

// TestKilledWorkerLosesItsPackage: a process is stopped before its first order, and killed
// after it. There the end of the process tells, or the server.
func TestKilledWorkerLosesItsPackage(t *testing.T) {
	for tells, url := range map[string]string{"process": plain(t, server.RANDOM_PORT).ClientURL(), "server": ""} {
		t.Run(tells, func(t *testing.T) {
			c := start(t, url, time.Hour, small...)
			cmd, err := startWorker(t.Context(), c.url, io.Discard)
			require.NoError(t, err)
			var ended sync.WaitGroup
			t.Cleanup(ended.Wait)
			if tells == "process" {
				ended.Go(func() { c.await(cmd) })
			} else {
				ended.Go(func() { _ = cmd.Wait() })
			}
			testkit.Eventually(t, func() bool { return len(c.idle) == 1 }, "the worker does not join")
			require.NoError(t, cmd.Process.Signal(syscall.SIGSTOP))
			ended.Go(func() {
				testkit.Eventually(t, func() bool { return len(c.idle) == 0 }, "no order is sent")
				join(t, c, "sound", soundly)
				_ = cmd.Process.Kill()
			})
			finds(t, c, 0)
			require.EqualValues(t, 1, c.retried.Load())
			require.Zero(t, c.refused.Load())
		})
	}
}

func TestDoubledAnswerIsRefused(t *testing.T) {
	c := start(t, "", time.Hour, small...)
	join(t, c, "twice", func(again func() error) { _ = again() })
	finds(t, c, 0)
	testkit.Eventually(t, func() bool { return c.refused.Load() == int64(len(c.units)) }, "a second answer is not refused")
	require.Zero(t, c.retried.Load())
}

func TestLateAnswerIsRefused(t *testing.T) {
	c := start(t, "", 500*time.Millisecond, small...)
	var first sync.Once
	join(t, c, "slow", func(func() error) {
		first.Do(func() {
			testkit.Eventually(t, func() bool { return c.retried.Load() > 0 }, "the deadline does not end the call")
			join(t, c, "sound", soundly)
		})
	})
	finds(t, c, 0)
	testkit.Eventually(t, func() bool { return c.refused.Load() == c.retried.Load() }, "a late answer is not refused")
}

// TestServerRestarts: before the first answer, which is lost or refused.
func TestServerRestarts(t *testing.T) {
	s := plain(t, server.RANDOM_PORT)
	c := start(t, s.ClientURL(), time.Hour, small...)
	var first sync.Once
	for _, name := range []string{"one", "other"} {
		join(t, c, name, func(func() error) {
			first.Do(func() {
				port := s.Addr().(*net.TCPAddr).Port
				s.Shutdown()
				s.WaitForShutdown()
				plain(t, port)
			})
		})
	}
	finds(t, c, 0)
	require.Positive(t, c.retried.Load())
}

// TestKilledCoordinatorLeavesNoWorker: the workers inherit a pipe, which ends with the last
// process that has it.
func TestKilledCoordinatorLeavesNoWorker(t *testing.T) {
	r, w, err := os.Pipe()
	require.NoError(t, err)
	defer r.Close()
	cmd := exec.CommandContext(t.Context(), os.Args[0], "std")
	cmd.Stderr = w
	require.NoError(t, cmd.Start())
	require.NoError(t, w.Close())
	require.NoError(t, r.SetReadDeadline(time.Now().Add(patience)))
	in := bufio.NewReader(r)
	for progress := ""; !strings.Contains(progress, " 2 workers"); {
		progress, err = in.ReadString('\r')
		require.NoError(t, err)
	}
	require.NoError(t, cmd.Process.Kill())
	require.Error(t, cmd.Wait())
	_, err = io.Copy(io.Discard, in)
	require.NoError(t, err)
}

func TestWorkerEndsWithoutCoordinator(t *testing.T) {
	w, err := newWorker(plain(t, server.RANDOM_PORT).ClientURL(), "lonely")
	require.NoError(t, err)
	testkit.Within(t, func() { require.ErrorContains(t, w.work(time.Second), "no coordinator") })
}

func TestErrorIsThatOfOneProcess(t *testing.T) {
	t.Chdir(t.TempDir())
	t.Setenv("GOWORK", "off")
	require.NoError(t, os.WriteFile("go.mod", []byte("module example.test/m\n\ngo 1.24\n"), 0o644))
	require.NoError(t, os.WriteFile("m.go", []byte("package m\n\nvar wrong string = 1\n\nvar X, Y = undefined, 2\n"), 0o644))
	c := start(t, "", time.Hour, ".")
	join(t, c, "sound", soundly)
	_, want := jobs.Schedule(t.Context(), c.units, 2, jobs.NewChecker(c.units))
	require.EqualError(t, c.coordinate(t.Context(), 0, io.Discard), want.Error())
}
