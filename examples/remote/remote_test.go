package main

import (
	"bufio"
	"fmt"
	"io"
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

// In the processes that tests start, TestMain is the command itself, or one that fails.
const variable, broken = "COATCHECK_REMOTE", "broken"

func TestMain(m *testing.M) {
	if os.Getenv(variable) == broken {
		os.Exit(3)
	} else if os.Getenv(variable) != "" {
		main()
	} else if os.Setenv(variable, "yes") == nil {
		os.Exit(m.Run())
	}
}

// small are packages that take little time.
var small = []string{"math/cmplx", "unicode", "unicode/utf16", "image/color", "container/list"}

// start starts a server, and makes its coordinator.
func start(t *testing.T, config string, deadline time.Duration, patterns ...string) (*coordinator, *server.Server) {
	s, url, err := serve(config)
	require.NoError(t, err)
	t.Cleanup(s.Shutdown)
	c, err := newCoordinator(t.Context(), url, deadline, patterns...)
	require.NoError(t, err)
	t.Cleanup(c.nc.Close)
	return c, s
}

// join starts a worker in this process. Each time before it answers, it calls before.
func join(t *testing.T, c *coordinator, before ...func(again func() error)) {
	w, err := newWorker(c.url)
	require.NoError(t, err)
	w.publish = func(reply string, data []byte) error {
		send := func() error { return w.nc.Publish(reply, data) }
		for _, f := range before {
			f(send)
		}
		return send()
	}
	var ended sync.WaitGroup
	ended.Go(func() { _ = w.work(patience) })
	t.Cleanup(func() {
		w.nc.Close()
		ended.Wait()
	})
}

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
	c, _ := start(t, config, time.Hour, "fmt")
	finds(t, c, 2)
	require.Zero(t, c.retried.Load()+c.refused.Load())
}

// TestKilledWorkerLosesItsPackage: a process is stopped before its first order, and killed
// after it. The server tells.
func TestKilledWorkerLosesItsPackage(t *testing.T) {
	c, _ := start(t, config, time.Hour, small...)
	w, err := startWorker(t.Context(), c.url, io.Discard)
	require.NoError(t, err)
	testkit.Eventually(t, func() bool { return len(c.idle) == 1 }, "the worker does not join")
	require.NoError(t, w.Process.Signal(syscall.SIGSTOP))
	var ended sync.WaitGroup
	ended.Go(func() {
		testkit.Eventually(t, func() bool { return len(c.idle) == 0 }, "no order is sent")
		join(t, c)
		_ = w.Process.Kill()
		_ = w.Wait()
	})
	t.Cleanup(ended.Wait)
	finds(t, c, 0)
	require.EqualValues(t, 1, c.retried.Load())
	require.Zero(t, c.refused.Load())
}

func TestDoubledAnswerIsRefused(t *testing.T) {
	c, _ := start(t, config, time.Hour, small...)
	join(t, c, func(again func() error) { _ = again() })
	finds(t, c, 0)
	testkit.Eventually(t, func() bool { return c.refused.Load() == int64(len(c.units)) }, "a second answer is not refused")
	require.Zero(t, c.retried.Load())
}

func TestLateAnswerIsRefused(t *testing.T) {
	c, _ := start(t, config, 500*time.Millisecond, small...)
	var first sync.Once
	join(t, c, func(func() error) {
		first.Do(func() {
			testkit.Eventually(t, func() bool { return c.retried.Load() > 0 }, "the deadline does not end the call")
			join(t, c)
		})
	})
	finds(t, c, 0)
	testkit.Eventually(t, func() bool { return c.refused.Load() == c.retried.Load() }, "a late answer is not refused")
}

// TestServerRestarts: before the first answer, which is lost or refused.
func TestServerRestarts(t *testing.T) {
	c, s := start(t, `listen: "127.0.0.1:-1"`, time.Hour, small...)
	var first sync.Once
	for range 2 {
		join(t, c, func(func() error) {
			first.Do(func() {
				same := fmt.Sprintf("listen: %q", s.Addr())
				s.Shutdown()
				s.WaitForShutdown()
				s, _, err := serve(same)
				require.NoError(t, err)
				t.Cleanup(s.Shutdown)
			})
		})
	}
	finds(t, c, 0)
	require.Positive(t, c.retried.Load())
}

// TestKilledCoordinatorLeavesNoWorker: the workers inherit a pipe, which ends with the last
// process that has it.
func TestKilledCoordinatorLeavesNoWorker(t *testing.T) {
	cmd := exec.CommandContext(t.Context(), os.Args[0], "std")
	pipe, err := cmd.StderrPipe()
	require.NoError(t, err)
	require.NoError(t, cmd.Start())
	testkit.Within(t, func() {
		in := bufio.NewReader(pipe)
		for progress := ""; !strings.Contains(progress, " 2 workers"); {
			progress, err = in.ReadString('\r')
			require.NoError(t, err)
		}
		require.NoError(t, cmd.Process.Kill())
		_, err = io.Copy(io.Discard, in)
		require.NoError(t, err)
		require.Error(t, cmd.Wait())
	})
}

// TestRunEndsWithoutWorkers: in seconds, and not after the time of patience. The last line of
// progress says what was done.
func TestRunEndsWithoutWorkers(t *testing.T) {
	t.Setenv(variable, broken)
	c, _ := start(t, config, time.Hour, small...)
	var progress strings.Builder
	testkit.Within(t, func() {
		err := c.coordinate(t.Context(), 2, &progress)
		require.EqualError(t, err, fmt.Sprintf("no worker is left, with 0 of %d packages done", len(c.units)))
	})
	require.Equal(t, 2, strings.Count(progress.String(), "a worker has ended: exit status 3\n"))
}

func TestLastProgressIsOfTheEnd(t *testing.T) {
	c, _ := start(t, config, time.Hour, small...)
	join(t, c)
	var progress strings.Builder
	testkit.Within(t, func() { require.NoError(t, c.coordinate(t.Context(), 0, &progress)) })
	lines := strings.Split(strings.TrimSpace(progress.String()), "\r")
	require.Contains(t, lines[len(lines)-1], fmt.Sprintf("%d of %d packages, 1 workers", len(c.units), len(c.units)))
}

func TestWorkerEndsWithoutCoordinator(t *testing.T) {
	s, url, err := serve(config)
	require.NoError(t, err)
	t.Cleanup(s.Shutdown)
	w, err := newWorker(url)
	require.NoError(t, err)
	testkit.Within(t, func() { require.ErrorContains(t, w.work(time.Second), "no coordinator") })
}

func TestErrorIsThatOfOneProcess(t *testing.T) {
	t.Chdir(t.TempDir())
	t.Setenv("GOWORK", "off")
	require.NoError(t, os.WriteFile("go.mod", []byte("module example.test/m\n\ngo 1.24\n"), 0o644))
	require.NoError(t, os.WriteFile("m.go", []byte("package m\n\nvar wrong string = 1\n\nvar X, Y = undefined, 2\n"), 0o644))
	c, _ := start(t, config, time.Hour, ".")
	join(t, c)
	_, want := jobs.Schedule(t.Context(), c.units, 2, jobs.NewChecker(c.units))
	require.EqualError(t, c.coordinate(t.Context(), 0, io.Discard), want.Error())
}

// TestFewerThanNoWorkersAreRefused, and make no panic.
func TestFewerThanNoWorkersAreRefused(t *testing.T) {
	require.EqualError(t, run(t.Context(), "", -1, time.Second, nil), "-workers is -1; want 0 or more")
}
