package workcopy

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/gob"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"sync"
	"time"

	"github.com/gofrs/flock"

	"replan/internal/wholefile"
	"replan/mcpclient/workspace"
)

// gitName is the name of a repository in its folder.
const gitName = ".git"

// The files of a copy.
const (
	lockFile  = "lock"
	stateFile = "state.json"
	baseFile  = "base"
	filesName = "files"
)

// maxCopies is the number of copies of one folder.
const maxCopies = 64

// Config says what is copied, and where to.
type Config struct {
	Folder  string   // the workspace
	Copies  string   // folder of all copies, outside the folders of the program
	Private []string // folders of the program, which no copy holds
	Run     string   // to be resumed; "" is none
}

// Copy is a copy of a workspace and, if it lies in a repository, of all of that.
// Several goroutines may use it.
type Copy struct {
	// Dir is the workspace in the copy.
	Dir string
	// Busy says that changes wait in a copy that another session uses.
	Busy bool
	// Others is the number of other copies in which changes wait.
	Others int

	place   string   // of the copy and what is known of it
	top     string   // the copied folder: the workspace, or one above it
	inside  string   // path of the workspace below it, "." for the same
	private []string // paths below top that are not copied
	folder  *os.Root // of top
	root    *os.Root // of its copy
	lock    *flock.Flock

	mu      sync.Mutex
	base    map[string]pair
	unsaved bool // base differs from its file
	state   state
	saved   string // the state in its file
	unread  int    // entries of the folder that cannot be read

	own    *workspace.Operators // of the copy
	target *workspace.Operators // of the workspace
}

// state is what is known of a copy beyond a session.
type state struct {
	Folder string   `json:"folder"`         // the workspace
	Runs   []string `json:"runs,omitempty"` // that worked here since all of it was taken or dropped
	Refs   refList  `json:"refs,omitempty"` // of the repository when it was copied
	Git    string   `json:"git,omitempty"`  // stamp of the repository when it was copied
}

// Open returns the copy of a workspace that no other session uses, and makes it if
// there is none. Call Close in the end.
func Open(ctx context.Context, cfg Config) (*Copy, error) {
	real, err := filepath.EvalSymlinks(cfg.Folder)
	if err != nil {
		return nil, fmt.Errorf("copy the folder %s: %w", cfg.Folder, err)
	}
	c := &Copy{top: repositoryOf(real), base: map[string]pair{}}
	if c.inside, err = filepath.Rel(c.top, real); err != nil {
		return nil, fmt.Errorf("copy the folder %s: %w", cfg.Folder, err)
	}
	for _, folder := range append(slices.Clone(cfg.Private), cfg.Copies) {
		if rel, err := filepath.Rel(c.top, folder); err == nil && filepath.IsLocal(rel) {
			c.private = append(c.private, filepath.ToSlash(rel))
		}
	}
	if err := c.claim(filepath.Join(cfg.Copies, nameOf(real)), cfg.Run); err != nil {
		return nil, err
	}
	forget(cfg.Copies, time.Now().Add(-unused))
	c.Dir = filepath.Join(c.place, filesName, c.inside)
	if err = c.open(); err == nil {
		c.state.Folder = real
		err = c.Refresh(ctx, "")
	}
	if err != nil {
		return nil, errors.Join(err, c.Close())
	}
	return c, nil
}

// unused is how long a copy in which nothing waits is kept for the next session.
const unused = 7 * 24 * time.Hour

// forget removes copies that no session used since a time and in which nothing waits.
// What cannot be removed takes only space.
func forget(copies string, since time.Time) {
	places, err := filepath.Glob(filepath.Join(copies, "*", "*"))
	if err != nil {
		return // the path is no pattern
	}
	for _, place := range places {
		info, err := os.Stat(filepath.Join(place, lockFile))
		s, damaged := readState(place)
		if err != nil || damaged != nil || len(s.Runs) > 0 || info.ModTime().After(since) {
			continue
		}
		lock := flock.New(filepath.Join(place, lockFile))
		if held, err := lock.TryLock(); err == nil && held {
			_ = os.RemoveAll(place)
		}
		_ = lock.Close()
	}
}

// nameOf returns the name of the folder with the copies of a workspace.
func nameOf(real string) string {
	sum := sha256.Sum256([]byte(real))
	return filepath.Base(real) + "-" + hex.EncodeToString(sum[:6])
}

// claim locks a copy that no other session uses: the one in which a run worked, else
// one in which changes wait, else the first.
func (c *Copy) claim(copies, run string) error {
	var all, waiting []string
	for number := 1; number <= maxCopies; number++ {
		place := filepath.Join(copies, strconv.Itoa(number))
		s, err := readState(place)
		switch {
		case err == nil && run != "" && slices.Contains(s.Runs, run):
			waiting = append([]string{place}, waiting...)
		case err == nil && len(s.Runs) > 0:
			waiting = append(waiting, place)
		default:
			all = append(all, place)
		}
	}
	for _, place := range append(waiting, all...) {
		if err := os.MkdirAll(filepath.Join(place, filesName), 0o700); err != nil {
			return fmt.Errorf("make a folder for the copy: %w", err)
		}
		lock := flock.New(filepath.Join(place, lockFile), flock.SetPermissions(0o600))
		held, err := lock.TryLock()
		switch {
		case err != nil:
			return errors.Join(fmt.Errorf("lock the copy %s: %w", place, err), lock.Close())
		case held:
			c.place, c.lock, c.Others = place, lock, len(waiting)
			if slices.Contains(waiting, place) {
				c.Others--
			}
			now := time.Now()
			return os.Chtimes(filepath.Join(place, lockFile), now, now) // see forget
		}
		c.Busy = c.Busy || slices.Contains(waiting, place)
		if err := lock.Close(); err != nil {
			return fmt.Errorf("lock the copy %s: %w", place, err)
		}
	}
	return fmt.Errorf("%d sessions work in copies of this folder: end one of them", maxCopies)
}

// open opens both folders and reads what is known of them. What is damaged counts as
// unknown, so that everything is compared by its content.
func (c *Copy) open() (err error) {
	if c.folder, err = os.OpenRoot(c.top); err != nil {
		return fmt.Errorf("copy the folder: %w", err)
	}
	if c.root, err = os.OpenRoot(filepath.Join(c.place, filesName)); err != nil {
		return fmt.Errorf("open the copy: %w", err)
	}
	if c.state, err = readState(c.place); err != nil {
		return err
	}
	data, err := os.ReadFile(filepath.Join(c.place, baseFile))
	if err == nil && gob.NewDecoder(bytes.NewReader(data)).Decode(&c.base) == nil {
		return nil
	}
	c.base = map[string]pair{}
	if len(c.state.Runs) > 0 {
		return fmt.Errorf("what is known of the copy %s is damaged: take what you need from its folder %s, and remove it", c.place, filesName)
	}
	// Nothing waits here.
	return errors.Join(c.root.Close(), c.again())
}

// again makes the folder of the copy anew.
func (c *Copy) again() (err error) {
	files := filepath.Join(c.place, filesName)
	if err = os.RemoveAll(files); err == nil {
		err = os.Mkdir(files, 0o700)
	}
	if err == nil {
		c.root, err = os.OpenRoot(files)
	}
	if err != nil {
		return fmt.Errorf("make the copy anew: %w", err)
	}
	return nil
}

// readState reads what is known of the copy in a place. A missing file is an empty
// state.
func readState(place string) (s state, err error) {
	data, err := os.ReadFile(filepath.Join(place, stateFile)) // #nosec G304 -- a folder of the program
	if errors.Is(err, fs.ErrNotExist) {
		return s, nil
	}
	if err == nil {
		err = json.Unmarshal(data, &s)
	}
	if err != nil {
		return s, fmt.Errorf("read the state of the copy %s: %w", place, err)
	}
	return s, nil
}

// Use sets the operators of the copy and of the workspace.
func (c *Copy) Use(own, target *workspace.Operators) { c.own, c.target = own, target }

// Close lets other sessions use the copy. What runs changed stays in it.
func (c *Copy) Close() error {
	if c == nil {
		return nil
	}
	var errs []error
	for _, root := range []*os.Root{c.folder, c.root} {
		if root != nil {
			errs = append(errs, root.Close())
		}
	}
	return errors.Join(append(errs, c.lock.Close())...)
}

// Copied returns the path in the copy of a path in the copied folder. Any other path,
// and any without a copy, is returned as it is.
func (c *Copy) Copied(path string) string {
	if c == nil {
		return path
	}
	real, err := filepath.EvalSymlinks(path)
	if err != nil {
		return path
	}
	rel, err := filepath.Rel(c.top, real)
	if err != nil || !filepath.IsLocal(rel) {
		return path
	}
	return filepath.Join(c.place, filesName, rel)
}

// Refresh makes the copy follow the workspace before a run. It fails if the run to
// resume worked in another copy.
func (c *Copy) Refresh(ctx context.Context, resume string) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if resume != "" && !slices.Contains(c.state.Runs, resume) {
		if err := Elsewhere(filepath.Dir(filepath.Dir(c.place)), c.state.Folder, resume); err != nil {
			return err
		}
	}
	return c.refresh(ctx, len(c.state.Runs) == 0)
}

// refresh makes the copy follow the workspace. With reset it drops what runs changed.
func (c *Copy) refresh(ctx context.Context, reset bool) error {
	err := c.follow(ctx, reset)
	if err == nil {
		err = c.followRepository(reset)
	}
	return errors.Join(err, c.save())
}

// save stores what is known of the copy.
func (c *Copy) save() error {
	if !c.unsaved {
		return c.saveState()
	}
	var base bytes.Buffer
	err := gob.NewEncoder(&base).Encode(c.base)
	if err == nil {
		err = wholefile.Write(filepath.Join(c.place, baseFile), base.Bytes())
	}
	if err != nil {
		return fmt.Errorf("store the state of the copy: %w", err)
	}
	c.unsaved = false
	return c.saveState()
}

func (c *Copy) saveState() error {
	data, err := json.Marshal(c.state)
	if string(data) == c.saved {
		return err
	}
	if err == nil {
		err = wholefile.Write(filepath.Join(c.place, stateFile), data)
	}
	if err != nil {
		return fmt.Errorf("store the state of the copy: %w", err)
	}
	c.saved = string(data)
	return nil
}

// Waits reports whether runs worked in the copy whose changes were neither taken nor
// dropped.
func (c *Copy) Waits() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return len(c.state.Runs) > 0
}

// Missing returns how many files of the folder the copy lacks, since they cannot be
// read.
func (c *Copy) Missing() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.unread
}

// Begin records that a run works in the copy. It is on disk when Begin returns.
func (c *Copy) Begin(run string) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if slices.Contains(c.state.Runs, run) {
		return nil
	}
	before := c.state.Runs
	c.state.Runs = append(slices.Clone(before), run)
	err := c.saveState()
	if err != nil {
		c.state.Runs = before // else a later call finds it there
	}
	return err
}

// ElsewhereError says that a run worked in a copy that this session does not use.
type ElsewhereError struct{ Run string }

func (e *ElsewhereError) Error() string {
	return "its changes are in a copy of this folder: resume it with --isolate while no other session uses that copy, or take or drop the changes with replan changes"
}

// Elsewhere returns an [*ElsewhereError] if a copy of a workspace holds changes of a
// run.
func Elsewhere(copies, folder, run string) error {
	real, err := filepath.EvalSymlinks(folder)
	if err != nil {
		return nil //nolint:nilerr // what does not exist has no copies
	}
	places, err := filepath.Glob(filepath.Join(copies, nameOf(real), "*"))
	if err != nil {
		return nil //nolint:nilerr // the path is no pattern
	}
	for _, place := range places {
		if s, err := readState(place); err == nil && slices.Contains(s.Runs, run) {
			return &ElsewhereError{run}
		}
	}
	return nil
}

// isPrivate reports whether a path is not copied.
func (c *Copy) isPrivate(at string) bool { return slices.Contains(c.private, at) }
