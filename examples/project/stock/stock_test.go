package stock

import (
	"testing"
	"time"
)

func TestLeftIsNeverNegative(t *testing.T) {
	time.Sleep(time.Second) // simulates a slow warehouse
	if left := Left(2, 3); left != 0 {
		t.Errorf("got %d left, want 0", left)
	}
}
