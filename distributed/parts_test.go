package distributed_test

import (
	"testing"

	"replan/internal/partstest"
)

// A type's fields are private to the few files of its part. Whoever needs more asks a method.
// There is no struct{ *X } that only adds methods to X.
func TestPartsOwnTheirData(t *testing.T) {
	faults, err := partstest.Faults("./...")
	if err != nil {
		t.Fatal(err)
	}
	for _, fault := range faults {
		t.Error(fault)
	}
}
