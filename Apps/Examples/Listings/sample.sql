-- 300 homes for sale, the same in every run: exactly 100 are in Dallas, cost less than 300,000 dollars and have three
-- bedrooms or more. Plain SQL, which devices receive like anything else; running it again changes nothing.
INSERT INTO listing (_id, location, price, bedrooms)
SELECT decode(lpad(to_hex(n), 24, '0'), 'hex'),
    CASE WHEN n <= 160 THEN 'dallas' ELSE (ARRAY['austin', 'houston', 'fort worth', 'el paso', 'san antonio'])[n % 5 + 1] END,
    CASE
        WHEN n <= 100 THEN 121000 + n * 1780
        WHEN n <= 130 THEN 300000 + n * 2500 -- too dear
        ELSE 99000 + n * 600
    END,
    CASE WHEN n <= 130 THEN 3 + n % 3 WHEN n <= 160 THEN 1 + n % 2 ELSE 1 + n % 5 END
FROM generate_series(1, 300) AS n
ON CONFLICT (_id) DO NOTHING;
