package checkout

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"sync"
	"time"

	"github.com/gofrs/flock"

	"replan/agent/remote"
)

// Snapshots keeps what a run has changed, so that another worker can take the run up.
type Snapshots interface {
	// SaveSnapshot replaces the snapshot of a run, a bundle of git.
	SaveSnapshot(ctx context.Context, run string, bundle []byte) error
	// LoadSnapshot returns the snapshot of a run; nil if there is none.
	LoadSnapshot(ctx context.Context, run string) ([]byte, error)
	// DropSnapshot forgets the snapshot of a run.
	DropSnapshot(ctx context.Context, run string) error
}

// Names in the folder of a checkout.
const (
	lockFile  = "lock"
	filesName = "files"     // what the run sees
	ownName   = "git"       // the repository of which the run knows nothing
	indexName = "raw.index" // of that repository
	gitName   = ".git"
)

// Checkout is the folder of one run. Several goroutines may use it.
type Checkout struct {
	run     string
	address string // of the repository; "" for an empty folder
	kept    Snapshots

	place string // of all that follows
	lock  *flock.Flock
	files string
	own   string
	clone string // folder of the cached clone

	mu    sync.Mutex
	first state  // in which the run began
	saved string // commit of the last snapshot
}

var runID = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9_-]{0,99}$`)

// Open makes a folder for a run below cache: a checkout of source, or what the snapshot
// of the run holds. Processes may share cache. Call Close in the end. An error that is a
// [*remote.Problem] is one of what the run asks for; others may be of this machine.
func Open(ctx context.Context, cache string, source remote.Source, run string, kept Snapshots) (c *Checkout, err error) {
	if !runID.MatchString(run) {
		return nil, refused("check out a repository: %.100q is no id of a run", run)
	}
	if source.Repository != "" {
		if err := checkAddress(source.Repository); err != nil {
			return nil, err
		}
	}
	c = &Checkout{run: run, address: source.Repository, kept: kept}
	if err := c.claim(cache); err != nil {
		return nil, errors.Join(err, c.Close())
	}
	bundle, err := kept.LoadSnapshot(ctx, run)
	if err == nil {
		err = c.fill(ctx, cache, source.Revision, bundle)
	}
	if err != nil {
		return nil, errors.Join(err, c.Close())
	}
	return c, nil
}

// Dir is the folder in which the run works.
func (c *Checkout) Dir() string { return c.files }

// Close removes the folder. What is in no snapshot is lost.
func (c *Checkout) Close() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.place == "" {
		return nil
	}
	return removeLocked(c.place, c.lock)
}

// claim makes a place of this process, and removes those that no process uses.
func (c *Checkout) claim(cache string) error {
	checkouts := filepath.Join(cache, "checkouts")
	if err := os.MkdirAll(checkouts, 0o700); err != nil {
		return fmt.Errorf("make a folder for checkouts: %w", err)
	}
	checkouts, err := filepath.EvalSymlinks(checkouts)
	if err != nil {
		return fmt.Errorf("find the folder of checkouts: %w", err)
	}
	forget(checkouts, time.Now().Add(-unclaimed))
	if c.place, err = os.MkdirTemp(checkouts, c.run+"-"); err != nil {
		return fmt.Errorf("make a folder for the run %s: %w", c.run, err)
	}
	c.files, c.own = filepath.Join(c.place, filesName), filepath.Join(c.place, ownName)
	c.lock = flock.New(filepath.Join(c.place, lockFile), flock.SetPermissions(0o600))
	held, err := c.lock.TryLock()
	if err == nil && !held {
		err = errors.New("another process has locked it")
	}
	if err == nil {
		err = os.Mkdir(c.files, 0o700)
	}
	if err != nil {
		return fmt.Errorf("make a folder for the run %s: %w", c.run, err)
	}
	return nil
}

// unclaimed is the time in which a process locks the place that it made.
const unclaimed = time.Hour

// forget removes places made before a time that no process uses: their processes were
// killed. What cannot be removed takes only space.
func forget(checkouts string, before time.Time) {
	entries, err := os.ReadDir(checkouts)
	if err != nil {
		return
	}
	for _, e := range entries {
		place := filepath.Join(checkouts, e.Name())
		if info, err := e.Info(); err != nil || info.ModTime().After(before) {
			continue
		}
		lock := flock.New(filepath.Join(place, lockFile))
		if held, err := lock.TryLock(); err == nil && held {
			_ = removeLocked(place, lock)
		} else {
			_ = lock.Close()
		}
	}
}

// removeLocked removes a place and its lock, with folders that are read-only, such as
// those of Go's modules.
func removeLocked(place string, lock *flock.Flock) error {
	if root, err := os.OpenRoot(place); err == nil {
		_ = fs.WalkDir(root.FS(), ".", func(at string, d fs.DirEntry, err error) error {
			if err == nil && d.IsDir() {
				_ = root.Chmod(at, 0o700) // #nosec G302 -- a folder
			}
			return nil
		})
		_ = root.Close() // it was only read
	}
	var errs []error
	for _, name := range []string{filesName, ownName} {
		errs = append(errs, os.RemoveAll(filepath.Join(place, name)))
	}
	if lock != nil {
		errs = append(errs, lock.Close())
	}
	if err := errors.Join(append(errs, os.RemoveAll(place))...); err != nil {
		return fmt.Errorf("remove the checkout %s: %w", place, err)
	}
	return nil
}

// fill fills the folder with what the run starts with.
func (c *Checkout) fill(ctx context.Context, cache, revision string, bundle []byte) error {
	needs, tip, err := bundleHeader(bundle)
	if err != nil {
		return fmt.Errorf("read the snapshot of the run %s: %w", c.run, err)
	}
	base := ""
	if c.address != "" {
		if base, err = c.fetch(ctx, cache, revision, needs, bundle != nil); err != nil {
			return err
		}
	}
	if err := c.createRepositories(ctx); err != nil {
		return err
	}
	if bundle != nil {
		return c.restore(ctx, bundle, tip)
	}
	return c.begin(ctx, base)
}

// fetch brings the clone up to what a run needs: the commits that its snapshot is
// based on, else the revision, whose commit it returns.
func (c *Checkout) fetch(ctx context.Context, cache, revision string, needs []string, restore bool) (base string, err error) {
	from, err := openClone(ctx, cache, c.address)
	if err != nil {
		return "", err
	}
	defer func() { err = errors.Join(err, from.close()) }()
	c.clone = from.folder()
	if !restore {
		return from.resolve(ctx, revision)
	}
	for _, commit := range needs {
		if _, err := from.resolve(ctx, commit); err != nil {
			return "", fmt.Errorf("restore the run %s: %w", c.run, err)
		}
	}
	return "", nil
}

// createRepositories makes our own repository and, unless the folder starts empty, that
// of the run.
func (c *Checkout) createRepositories(ctx context.Context) error {
	if err := create(ctx, c.own, "none", c.clone); err != nil || c.address == "" {
		return err
	}
	return create(ctx, c.theirs(), c.branch(1), c.clone)
}
