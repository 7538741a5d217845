package box

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// EnvOrders is the environment variable with the orders for a child that is to
// become another program. Any program that makes boxes must check [Inside] first.
const EnvOrders = "REPLAN_BOX"

// Config says what is in a box.
type Config struct {
	Dir     string   // the workspace, which children may change
	Write   []string // other folders that they may change
	Private []string // folders of this program, which they neither change nor, where the kernel allows it, read
	Network bool     // children may use the network
	// Copy says that Dir is a copy of the user's folder, in which the user runs no git:
	// repositories below it are left to children.
	Copy bool
}

// Box contains children. The zero value of its pointer contains nothing.
type Box struct {
	orders orders
	git    *repository         // of the workspace
	nested *nestedRepositories // repositories below the workspace
	names  namespaces
	temp   string
	held   *os.File // the lock of temp
	env    []string
	abi    int
}

// orders is what a child does before it becomes another program.
type orders struct {
	Program string   // the program to become; "" ends after the restrictions
	Write   []string // files and folders that may be changed, with all below
	Fixed   []string // files and folders below those that may not
	Hidden  []string // folders that are empty
	Network bool
	Mounts  bool   // there is a mount namespace of its own, and without Network one for the network
	GOGC    string `json:",omitempty"` // of the program; "" has none
}

// gogc is the variable with the heap that a Go program may grow before it collects
// garbage. lessCollection keeps a child from collecting the tables of this program,
// a fifth of the time until it becomes another one.
const (
	gogc           = "GOGC="
	lessCollection = gogc + "400"
)

// New returns a box. It fails if this system cannot hold one, or the folders allow
// none. Call Close in the end.
func New(cfg Config) (b *Box, err error) {
	abi, err := Supported()
	if err != nil {
		return nil, err
	}
	dir, err := filepath.EvalSymlinks(cfg.Dir)
	if err != nil {
		return nil, fmt.Errorf("a box for the folder %s: %w", cfg.Dir, err)
	}
	b = &Box{abi: abi, orders: orders{Network: cfg.Network}}
	defer func() {
		if err != nil {
			err = errors.Join(err, b.Close())
		}
	}()
	caches, err := b.makeFolders(dir)
	if err != nil {
		return nil, err
	}
	b.orders.Write = []string{dir, b.temp, caches}
	for _, folder := range cfg.Write {
		real, err := filepath.EvalSymlinks(folder)
		if err != nil {
			return nil, fmt.Errorf("the folder %s, which programs in the box may change: %w", folder, err)
		}
		b.orders.Write = append(b.orders.Write, real)
	}
	b.git = findRepository(dir)
	if folder := b.git.writable(); folder != "" {
		b.orders.Write = append(b.orders.Write, folder)
	}
	b.nested = &nestedRepositories{}
	if !cfg.Copy {
		b.nested = b.git.nestedIn(dir)
	}
	if err := b.protect(cfg.Private); err != nil {
		return nil, err
	}
	if err := b.hideTerminals(); err != nil {
		return nil, err
	}
	if b.orders.Mounts {
		_, err = b.git.hold()
	}
	return b, err
}

// makeFolders makes the folder for temporary files and, for each workspace its own,
// the one for caches, which it returns. A cache that other programs of the user read,
// such as the one of the go command, could hold code of the box.
func (b *Box) makeFolders(workspace string) (caches string, err error) {
	forgetTemporary()
	temp, err := os.MkdirTemp("", tempName)
	if err != nil {
		return "", fmt.Errorf("a folder for temporary files of the box: %w", err)
	}
	if b.temp, err = filepath.EvalSymlinks(temp); err != nil {
		return "", err
	}
	if b.held, err = lock(b.temp); err != nil {
		return "", fmt.Errorf("a folder for temporary files of the box: %w", err)
	}
	base, err := os.UserCacheDir()
	if err != nil {
		base = b.temp
	}
	sum := sha256.Sum256([]byte(workspace))
	caches = filepath.Join(base, "replan", "box", hex.EncodeToString(sum[:8]))
	if err := os.MkdirAll(caches, 0o700); err != nil {
		return "", fmt.Errorf("a folder for caches of the box: %w", err)
	}
	if caches, err = filepath.EvalSymlinks(caches); err != nil {
		return "", err
	}
	b.env = []string{
		"TMPDIR=" + b.temp, "TMP=" + b.temp, "TEMP=" + b.temp,
		"XDG_CACHE_HOME=" + caches, "GOCACHE=" + filepath.Join(caches, "go-build"), "npm_config_cache=" + filepath.Join(caches, "npm"),
	}
	return caches, nil
}

// protect hides the private folders, and fails if one lies where children may write
// and this kernel cannot hide it.
func (b *Box) protect(private []string) error {
	inside := "" // a private folder in one that may be changed
	for _, folder := range private {
		real, err := filepath.EvalSymlinks(existing(folder))
		if err != nil {
			return fmt.Errorf("the folder %s, which programs in the box may not change: %w", folder, err)
		}
		for _, root := range b.orders.Write {
			switch {
			case within(root, folder), within(root, real) && existing(folder) == folder:
				return fmt.Errorf("%s lies in %s, which holds data of replan that no program in the box may change; choose another folder with --data-dir", root, folder)
			case within(real, root) || within(folder, root):
				inside = folder
				// What does not exist yet could be made in the box.
				if err := os.MkdirAll(folder, 0o700); err != nil {
					return fmt.Errorf("the folder %s, which programs in the box may not change: %w", folder, err)
				}
			}
		}
		if real, err = filepath.EvalSymlinks(folder); err == nil && !slices.Contains(b.orders.Hidden, real) {
			b.orders.Hidden = append(b.orders.Hidden, real)
		}
	}
	b.names = b.findNamespaces()
	b.orders.Mounts = b.names != noNamespaces
	if inside != "" && !b.orders.Mounts {
		return fmt.Errorf("%s holds data of replan and lies where programs in the box may write, and this kernel lets replan hide nothing from them; choose another folder with --data-dir", inside)
	}
	return nil
}

// terminals is the folder of the user's terminals, whose keys programs must not read.
const terminals = "/dev/pts"

// hideTerminals hides the terminals, and refuses folders that hold them.
func (b *Box) hideTerminals() error {
	for _, root := range b.orders.Write {
		if within(terminals, root) || within(root, terminals) {
			return fmt.Errorf("programs in the box may not change %s: it holds your terminals", root)
		}
	}
	if _, err := os.Stat(terminals); err == nil {
		b.orders.Hidden = append(b.orders.Hidden, terminals)
	}
	return nil
}

// within reports whether a path is a folder or lies below it.
func within(path, folder string) bool {
	rel, err := filepath.Rel(folder, path)
	return err == nil && filepath.IsLocal(rel)
}

// existing returns the longest part of a path that exists.
func existing(path string) string {
	for {
		above := filepath.Dir(path)
		if _, err := os.Lstat(path); err == nil || above == path {
			return path
		}
		path = above
	}
}

// Gaps returns what this kernel does not hold, a sentence each.
func (b *Box) Gaps() []string {
	out := gaps(b.abi, b.orders.Mounts)
	if links := slices.Concat(b.git.links(), b.nested.links()); len(links) > 0 && b.orders.Mounts {
		out = append(out, "programs in the box can replace "+strings.Join(links, ", ")+", since a link cannot be held in place")
	}
	return out
}

// Made says which repositories appeared below the workspace since the box was made, each
// once; "" if none did. Nothing keeps programs from making them. What their configuration
// names runs at the user's next git command there. If the index of the workspace names
// them, it runs at the next git status. It reads all folders of the workspace.
func (b *Box) Made() string {
	if b == nil || b.nested == nil {
		return ""
	}
	created := b.nested.created()
	switch len(created) {
	case 0:
		return ""
	case 1:
		return "the repository " + created[0] + " appeared while programs ran in the box: git runs what its config says, so read it before you use git in this folder"
	default:
		return "the repositories " + strings.Join(created, ", ") + " appeared while programs ran in the box: git runs what their config says, so read it before you use git in this folder"
	}
}

// gaps returns what a kernel does not hold.
func gaps(abi int, mounts bool) (out []string) {
	if abi < 6 {
		out = append(out, "programs in the box can send signals to your other programs (Linux 6.12 and later refuse that)")
	}
	if !mounts {
		out = append(out, "programs in the box can change .git/hooks, .git/config and what else git obeys, and read replan's own data (this kernel allows no user namespaces)")
	}
	return out
}

// Also returns the box for a child that may change these folders too.
func (b *Box) Also(folders ...string) *Box {
	if b == nil || len(folders) == 0 {
		return b
	}
	wider := *b
	wider.orders.Write = slices.Concat(b.orders.Write, folders)
	return &wider
}

// Network reports whether children may use the network.
func (b *Box) Network() bool { return b.orders.Network }

// Close removes the temporary files, and what programs left in the repository for git
// to go on with. All children must have ended.
func (b *Box) Close() error {
	if b == nil || b.temp == "" {
		return nil
	}
	err := os.RemoveAll(b.temp)
	b.temp = ""
	if b.git != nil {
		err = errors.Join(err, b.git.release())
	}
	if b.held != nil {
		err = errors.Join(err, b.held.Close())
	}
	return err
}

// tempName begins the names of folders for temporary files.
const tempName = "replan-box-"

// forgetTemporary removes the temporary files of programs that were killed. Their
// folders are not locked any more; a new one may not be locked yet.
func forgetTemporary() {
	found, err := filepath.Glob(filepath.Join(escaped(os.TempDir()), tempName+"*"))
	if err != nil {
		return
	}
	for _, folder := range found {
		info, err := os.Lstat(folder)
		if err != nil || !info.IsDir() || time.Since(info.ModTime()) < time.Minute {
			continue
		}
		if held, err := lock(folder); err == nil {
			_ = os.RemoveAll(folder) // what is left takes only space
			_ = held.Close()
		}
	}
}

// Enclose puts a command into the box. Call it just before the command starts.
func (b *Box) Enclose(cmd *exec.Cmd) error {
	if b == nil || cmd.Err != nil { // Start reports the error
		return nil
	}
	program := cmd.Path
	if !filepath.IsAbs(program) {
		program = filepath.Join(cmd.Dir, program)
	}
	if _, err := exec.LookPath(program); err != nil {
		return err
	}
	o := b.orders
	o.Program = program
	if o.Mounts {
		// A program, or the user, may have made files since the last one began.
		var err error
		if o.Fixed, err = b.git.hold(); err != nil {
			return err
		}
		o.Fixed = append(o.Fixed, b.nested.fixed()...)
	}
	return b.prepare(cmd, o)
}

// prepare lets a command begin as this program, with orders.
func (b *Box) prepare(cmd *exec.Cmd, o orders) error {
	if cmd.Env == nil {
		cmd.Env = os.Environ()
	}
	for _, entry := range cmd.Env {
		if value, ok := strings.CutPrefix(entry, gogc); ok {
			o.GOGC = value // the last one counts
		}
	}
	text, err := json.Marshal(o)
	if err != nil {
		return fmt.Errorf("the orders for the box: %w", err)
	}
	cmd.Env = slices.Concat(cmd.Env, b.env, []string{EnvOrders + "=" + string(text), lessCollection})
	cmd.Path = self
	b.names.join(cmd, o.Network)
	return nil
}

// Inside reports whether this process was started to become another program.
func Inside() bool { return os.Getenv(EnvOrders) != "" }

// exitRefused is the exit code of a child that did not become another program.
const exitRefused = 126

// Main restricts this process and becomes the program that was meant. It returns
// only if that fails, with an exit code.
func Main() int {
	var o orders
	err := json.Unmarshal([]byte(os.Getenv(EnvOrders)), &o)
	if err == nil {
		err = enter(o)
	}
	if err != nil {
		_, _ = fmt.Fprintf(os.Stderr, "replan: %s was not started, because its box could not be made: %v\n", o.Program, err)
		return exitRefused
	}
	return 0
}

// environ returns the environment for the program in the box.
func (o orders) environ() []string {
	own := slices.DeleteFunc(os.Environ(), func(entry string) bool {
		return strings.HasPrefix(entry, EnvOrders+"=") || strings.HasPrefix(entry, gogc)
	})
	if o.GOGC == "" {
		return own
	}
	return append(own, gogc+o.GOGC)
}

// escaped returns the pattern that matches only this path.
func escaped(path string) string {
	return strings.NewReplacer(`\`, `\\`, "*", `\*`, "?", `\?`, "[", `\[`).Replace(path)
}
