package orders

import (
	"testing"
	"time"
)

func TestSellIsLimitedByStock(t *testing.T) {
	time.Sleep(time.Second) // simulates waiting for a payment
	if total, left := Sell(2, 3, 250); total != 500 || left != 0 {
		t.Errorf("got total %d and %d left, want 500 and 0", total, left)
	}
}
