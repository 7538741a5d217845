package records_test

import (
	"bytes"
	"path/filepath"
	"strings"
	"testing"

	"replan/distributed/records"
)

func TestSnapshotIsReplacedAndDropped(t *testing.T) {
	address := "sqlite:" + filepath.Join(t.TempDir(), "runs.db")
	d, err := records.Open(t.Context(), address)
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close() //nolint:errcheck // of a test
	for range 2 {   // another worker prepares it too
		if err := d.Prepare(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	want := func(want []byte) {
		t.Helper()
		if got, err := d.LoadSnapshot(t.Context(), "r-1"); err != nil || !bytes.Equal(got, want) || (got == nil) != (want == nil) {
			t.Errorf("the snapshot is %q, %v, not %q", got, err, want)
		}
	}
	save := func(run, bundle string) {
		t.Helper()
		if err := d.SaveSnapshot(t.Context(), run, []byte(bundle)); err != nil {
			t.Fatal(err)
		}
	}
	want(nil)
	save("r-1", "one\x00")
	save("r-2", "other")
	save("r-1", "two\xff")
	want([]byte("two\xff"))
	err = d.SaveSnapshot(t.Context(), "r-1", make([]byte, records.MaxSnapshot+1))
	if err == nil || !strings.Contains(err.Error(), "at most 256 fit") {
		t.Errorf("a snapshot that is too large gives %v", err)
	}
	want([]byte("two\xff"))
	if err := d.DropSnapshot(t.Context(), "r-1"); err != nil {
		t.Fatal(err)
	}
	want(nil)
}
