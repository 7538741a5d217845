package box_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"

	"replan/mcpclient/box"
	"replan/mcpclient/box/boxtest"
)

func TestMain(m *testing.M) {
	if box.Inside() {
		os.Exit(box.Main())
	}
	if os.Getenv(envTarget) != "" {
		os.Exit(tryOut())
	}
	if os.Getenv("BOX_TEST_OLD_KERNEL") != "" {
		runtime.LockOSThread()
		if err := withoutLandlock(); err != nil {
			panic(err)
		}
		_, err := box.New(box.Config{Dir: "."})
		fmt.Println(err)
		os.Exit(0)
	}
	os.Exit(m.Run())
}

// withoutLandlock lets this thread see a kernel that has no Landlock.
func withoutLandlock() error {
	filter := []unix.SockFilter{
		{Code: unix.BPF_LD | unix.BPF_W | unix.BPF_ABS},
		{Code: unix.BPF_JMP | unix.BPF_JEQ | unix.BPF_K, K: unix.SYS_LANDLOCK_CREATE_RULESET, Jf: 1},
		{Code: unix.BPF_RET | unix.BPF_K, K: unix.SECCOMP_RET_ERRNO | uint32(unix.ENOSYS)},
		{Code: unix.BPF_RET | unix.BPF_K, K: unix.SECCOMP_RET_ALLOW},
	}
	if err := unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0); err != nil {
		return err
	}
	return unix.Prctl(unix.PR_SET_SECCOMP, unix.SECCOMP_MODE_FILTER, uintptr(unsafe.Pointer(&unix.SockFprog{Len: uint16(len(filter)), Filter: &filter[0]})), 0, 0)
}

func TestKernelWithoutLandlockHasNoBox(t *testing.T) {
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), "BOX_TEST_OLD_KERNEL=1")
	out, err := cmd.CombinedOutput()
	if err != nil || !strings.Contains(string(out), "a box needs Landlock with ABI 3 (Linux 6.2 or later), and this kernel has none") {
		t.Errorf("%v\n%s", err, out)
	}
}

// newBox makes another box for a folder.
func newBox(t *testing.T, dir, private string) *box.Box {
	t.Helper()
	b, err := box.New(box.Config{Dir: dir, Private: []string{private}, Network: true})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = b.Close() })
	return b
}

func TestFoldersOfTerminalsAreRefused(t *testing.T) {
	p := boxtest.New(t, nil)
	if _, err := box.New(box.Config{Dir: p.Dir, Write: []string{"/dev/pts"}}); err == nil || !strings.Contains(err.Error(), "terminals") {
		t.Error(err)
	}
}

func TestProgramInBoxChangesWorkspaceAndTemporaryFilesAlone(t *testing.T) {
	p := boxtest.New(t, nil)
	for _, allowed := range []string{
		"echo a > new.txt", "mkdir d && mv new.txt d/new.txt", "rm -r d", "echo x > $TMPDIR/t", "mkdir -p $GOCACHE $XDG_CACHE_HOME/x", "echo > /dev/null",
		"echo x > .git/index", "ln -s /etc/passwd link && cat link > /dev/null && rm link", "mkfifo pipe && rm pipe",
	} {
		if out, err := p.Shell(t, allowed); err != nil {
			t.Errorf("%s: %v\n%s", allowed, err, out)
		}
	}
	for _, refused := range []string{"echo a > ../new.txt", "echo a >> ~/.bashrc", "rm ~/.bashrc", "mv ~/.ssh ssh", "echo > /tmp/replan-box-test"} {
		if out, err := p.Shell(t, refused); err == nil {
			t.Errorf("%s: passed\n%s", refused, out)
		}
	}
}

func TestProgramInBoxSeesItsOwnArgumentsAndNoOrders(t *testing.T) {
	p := boxtest.New(t, nil)
	out, err := p.Shell(t, "env; echo $0")
	if err != nil || strings.Contains(out, box.EnvOrders) || !strings.HasSuffix(out, "\nsh\n") {
		t.Errorf("%v\n%s", err, out)
	}
}

func TestProgramInBoxHasTheGarbageCollectionOfItsEnvironment(t *testing.T) {
	for _, environ := range [][]string{nil, {"GOGC=70"}, {"GOGC=50", "GOGC=off"}} {
		p := boxtest.New(t, nil)
		cmd := exec.Command("/bin/sh", "-c", `echo "GOGC=$GOGC"`)
		cmd.Dir, cmd.Env = p.Dir, append([]string{"PATH=" + os.Getenv("PATH")}, environ...)
		if err := p.Box.Enclose(cmd); err != nil {
			t.Fatal(err)
		}
		want := "GOGC=\n"
		if n := len(environ); n > 0 {
			want = environ[n-1] + "\n"
		}
		if out, err := cmd.CombinedOutput(); err != nil || string(out) != want {
			t.Errorf("%q: %v\n%s", environ, err, out)
		}
	}
}

func TestMissingProgramIsReportedBeforeItStarts(t *testing.T) {
	p := boxtest.New(t, nil)
	cmd := exec.Command("./missing")
	cmd.Dir = p.Dir
	if err := p.Box.Enclose(cmd); err == nil || !strings.Contains(err.Error(), "no such file") {
		t.Error(err)
	}
}

func TestTemporaryFilesOfKilledProgramsAreForgotten(t *testing.T) {
	p := boxtest.New(t, nil)
	left := filepath.Join(p.Home, "replan-box-1")
	boxtest.Write(t, filepath.Join(left, "file"), "left")
	fresh := filepath.Join(p.Home, "replan-box-2")
	boxtest.Write(t, filepath.Join(fresh, "file"), "of a program that begins")
	mine, err := filepath.Glob(filepath.Join(p.Home, "replan-box-*[0-9]"))
	if err != nil || len(mine) != 3 {
		t.Fatal(mine, err)
	}
	old := time.Now().Add(-time.Hour)
	for _, folder := range mine {
		if folder != fresh {
			if err := os.Chtimes(folder, old, old); err != nil {
				t.Fatal(err)
			}
		}
	}
	b, err := box.New(box.Config{Dir: p.Dir})
	if err != nil {
		t.Fatal(err)
	}
	if err := b.Close(); err != nil {
		t.Error(err)
	}
	for _, folder := range mine {
		if _, err := os.Stat(folder); (err == nil) == (folder == left) {
			t.Errorf("%s: %v", folder, err)
		}
	}
}

func TestWorkspaceInDataOfTheProgramIsRefused(t *testing.T) {
	p := boxtest.New(t, nil)
	if _, err := box.New(box.Config{Dir: p.Private, Private: []string{p.Private}}); err == nil || !strings.Contains(err.Error(), "--data-dir") {
		t.Error(err)
	}
}
