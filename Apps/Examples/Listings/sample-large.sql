-- As many homes for sale as it takes to see how lists behave: 48,213 with those of sample.sql, which comes first. None of
-- them is in Dallas. The same in every run, and running it again changes nothing.
INSERT INTO listing (_id, location, price, bedrooms)
SELECT decode(lpad(to_hex(n), 24, '0'), 'hex'),
    (ARRAY['austin', 'houston', 'fort worth', 'el paso', 'san antonio', 'arlington', 'plano', 'corpus christi'])[n % 8 + 1],
    89000 + (n::bigint * 7919) % 911 * 1000 + n % 10 * 100,
    1 + (n * 31) % 6
FROM generate_series(301, 48213) AS n
ON CONFLICT (_id) DO NOTHING;
