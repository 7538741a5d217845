package stock

import (
	"testing"
	"time"
)

func TestNothingBelowZeroIsLeft(t *testing.T) {
	time.Sleep(time.Second) // stands for a warehouse that takes its time to answer
	if left := Left(2, 3); left != 0 {
		t.Errorf("%d left", left)
	}
}
