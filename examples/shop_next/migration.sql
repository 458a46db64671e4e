-- The amounts of orders were always gross; now their name says so.
ALTER TABLE public.orders RENAME COLUMN amount TO amount_gross;
