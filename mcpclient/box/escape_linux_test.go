package box_test

import (
	"encoding/json"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/creack/pty"

	"replan/mcpclient/box"
	"replan/mcpclient/box/boxtest"
)

// envTarget tells a process to try a way out.
const envTarget = "BOX_TEST_TARGET"

// tryOut makes the attempt of the environment. The exit code says whether it was
// refused.
func tryOut() int {
	var t target
	if err := json.Unmarshal([]byte(os.Getenv(envTarget)), &t); err != nil {
		panic(err)
	}
	all := slices.Concat(fileAttempts(), ownAttempts(), kernelAttempts(), socketAttempts(), networkAttempts())
	i := slices.IndexFunc(all, func(a attempt) bool { return a.name == t.Name })
	if err := all[i].try(t); err != nil {
		fmt.Println(err)
		return refused
	}
	return 0
}

const refused = 10

// TestNothingLeavesTheBox makes each attempt in the box, where it must fail and leave
// everything outside as it was. Most are made without the box first, to show that
// they work.
func TestNothingLeavesTheBox(t *testing.T) {
	t.Chdir(t.TempDir()) // one attempt writes there
	attempts := slices.Concat(fileAttempts(), ownAttempts(), kernelAttempts(), socketAttempts())
	network := networkAttempts()
	if n := len(attempts) + len(network); n < 60 {
		t.Fatalf("there are %d attempts, want 60 or more", n)
	}
	for _, a := range slices.Concat(attempts, network) {
		offline := slices.ContainsFunc(network, func(n attempt) bool { return n.name == a.name })
		t.Run(a.name, func(t *testing.T) {
			if !a.alone {
				if out, code := escape(t, boxtest.New(t, nil), a, false); code != 0 {
					t.Fatalf("the attempt does not work without the box either: %s", out)
				}
			}
			p := boxtest.New(t, func(cfg *box.Config) { cfg.Network = !offline })
			skipGap(t, p, a)
			before := p.Outside(t)
			out, code := escape(t, p, a, true)
			if code != refused {
				t.Errorf("it got out: exit %d, %s", code, out)
			}
			if after := p.Outside(t); after != before {
				t.Errorf("it changed what is outside: before\n%s\nafter\n%s", before, after)
			}
		})
	}
}

// skipGap skips what the box says that this kernel does not hold.
func skipGap(t *testing.T, p boxtest.Place, a attempt) {
	t.Helper()
	gaps := strings.Join(p.Box.Gaps(), "\n")
	signal := strings.HasPrefix(a.name, "kill") || a.name == "stop the parent"
	if a.mounts && strings.Contains(gaps, ".git/hooks") || signal && strings.Contains(gaps, "signals") {
		t.Skip("this kernel does not hold it: " + gaps)
	}
}

// escape makes an attempt in the box, or without it, and returns its exit code.
func escape(t *testing.T, p boxtest.Place, a attempt, boxed bool) (out string, code int) {
	t.Helper()
	at := target{Name: a.name, Home: p.Home, Dir: p.Dir, Private: p.Private, Parent: os.Getpid(), Named: "replan-box-" + filepath.Base(p.Home) + t.Name(), PrivateWasThere: "secret = 1\n"}
	file, err := os.OpenFile(at.outside(".bashrc"), os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close() //nolint:errcheck // nothing was written
	at.File = int(file.Fd())
	at.Victim = victim(t)
	at.Socket = filepath.Join(t.TempDir(), "s")
	if at.Named = strings.ReplaceAll(at.Named, "/", "-"); len(at.Named) > 100 {
		at.Named = at.Named[:100]
	}
	serve(t, "unix", at.Socket)
	serve(t, "unix", "@"+at.Named)
	at.TCP, at.TCP6 = serve(t, "tcp4", "127.0.0.1:0"), serve(t, "tcp6", "[::1]:0")
	at.UDP = echo(t)
	master, terminal, err := pty.Open()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _, _ = master.Close(), terminal.Close() })
	at.Terminal, at.TerminalFile = terminal.Name(), int(terminal.Fd())

	text, err := json.Marshal(at)
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(os.Args[0])
	cmd.ExtraFiles = []*os.File{file} // as if whoever started the program had left it open
	cmd.Dir, cmd.Env = p.Dir, append(os.Environ(), envTarget+"="+string(text))
	if boxed {
		if err := p.Box.Enclose(cmd); err != nil {
			t.Fatal(err)
		}
	}
	output, _ := cmd.CombinedOutput()
	return string(output), cmd.ProcessState.ExitCode()
}

// victim starts a process outside the box.
func victim(t *testing.T) int {
	t.Helper()
	cmd := exec.Command("cat")
	in, err := cmd.StdinPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _, _ = in.Close(), cmd.Wait() })
	return cmd.Process.Pid
}

// serve answers connections, and returns the address; "" if there is no such network.
func serve(t *testing.T, network, address string) string {
	t.Helper()
	l, err := net.Listen(network, address)
	if err != nil {
		if network == "tcp6" {
			return ""
		}
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = l.Close() })
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			_, _ = c.Read(make([]byte, 5))
			_, _ = c.Write([]byte("hello"))
			_ = c.Close()
		}
	}()
	return l.Addr().String()
}

// echo answers datagrams.
func echo(t *testing.T) string {
	t.Helper()
	c, err := net.ListenPacket("udp4", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Close() })
	go func() {
		b := make([]byte, 64)
		for {
			n, from, err := c.ReadFrom(b)
			if err != nil {
				return
			}
			_, _ = c.WriteTo(b[:n], from)
		}
	}()
	return c.LocalAddr().String()
}
