package orders

import (
	"testing"
	"time"
)

func TestNoMoreIsSoldThanThereIs(t *testing.T) {
	time.Sleep(time.Second) // stands for a payment that is confirmed
	if total, left := Sell(2, 3, 250); total != 500 || left != 0 {
		t.Errorf("sold for %d, %d left", total, left)
	}
}
