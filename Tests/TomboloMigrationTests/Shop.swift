/// A shop's database, designed without knowledge of Tombolo.
enum Shop {
    static let sql = """
        CREATE TYPE order_status AS ENUM ('new', 'paid', 'sent');
        CREATE DOMAIN country_code AS text CHECK (length(VALUE) = 2);
        CREATE TABLE customer (
            id uuid PRIMARY KEY DEFAULT gen_random_uuid(),
            email text NOT NULL UNIQUE,
            full_name text NOT NULL,
            description text,
            is_active boolean NOT NULL DEFAULT true,
            rating double precision,
            preferences jsonb NOT NULL,
            birthday date,
            created_at timestamp with time zone NOT NULL DEFAULT now(),
            trashed_at timestamp with time zone
        );
        CREATE TABLE address (
            id uuid PRIMARY KEY DEFAULT gen_random_uuid(),
            customer_id uuid NOT NULL REFERENCES customer (id) ON DELETE CASCADE,
            "Street Name" text NOT NULL,
            street_name_2 text,
            country country_code NOT NULL DEFAULT 'DE',
            UNIQUE (customer_id, "Street Name")
        );
        CREATE TABLE category (
            id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
            name text COLLATE "C" NOT NULL UNIQUE,
            parent_id bigint REFERENCES category (id) ON DELETE SET NULL,
            "class" bigint NOT NULL DEFAULT '-1'::integer
        );
        CREATE TABLE product (
            sku text PRIMARY KEY,
            category_id bigint NOT NULL REFERENCES category (id),
            name character varying(200) NOT NULL,
            price numeric(12, 2) NOT NULL CHECK (price >= 0),
            weight numeric,
            stock integer NOT NULL DEFAULT 0,
            tags text[] NOT NULL DEFAULT '{}',
            available daterange,
            photo bytea,
            unit_price numeric GENERATED ALWAYS AS (weight * 2) STORED,
            note text DEFAULT 'it''s "new"'
        );
        CREATE INDEX ON product (stock);
        CREATE TABLE "order" (
            order_id uuid PRIMARY KEY,
            customer uuid NOT NULL REFERENCES customer (id),
            status order_status NOT NULL DEFAULT 'new',
            placed_at timestamp without time zone NOT NULL DEFAULT now(),
            total numeric NOT NULL DEFAULT 0
        );
        CREATE TABLE order_line (
            order_id uuid REFERENCES "order" (order_id) ON DELETE CASCADE,
            line_no integer,
            product_sku text NOT NULL REFERENCES product (sku),
            quantity integer NOT NULL,
            PRIMARY KEY (order_id, line_no)
        );
        CREATE TABLE shipment (
            id serial PRIMARY KEY,
            order_id uuid NOT NULL,
            line_no integer NOT NULL,
            weight real,
            location point,
            FOREIGN KEY (order_id, line_no) REFERENCES order_line (order_id, line_no)
        );
        CREATE TABLE audit_log (at timestamp with time zone NOT NULL, what text NOT NULL);
        CREATE TABLE 订单 (_id bytea PRIMARY KEY CHECK (octet_length(_id) = 12), value bigint, "2nd" bigint);
        CREATE TABLE visit (id interval PRIMARY KEY, x text);
        CREATE VIEW active_customer AS SELECT id, email FROM customer WHERE is_active;

        INSERT INTO customer (email, full_name, preferences) VALUES ('a@example.org', 'Ada', '{}');
        INSERT INTO category (name) VALUES ('Books'), ('Games');
        INSERT INTO product (sku, category_id, name, price, weight, tags)
        SELECT 'p' || i, 1 + i % 2, 'Product ' || i, i, i / 7.0, ARRAY['a', 'b'] FROM generate_series(1, 500) i;
        INSERT INTO "order" (order_id, customer) SELECT gen_random_uuid(), id FROM customer;
        INSERT INTO order_line SELECT order_id, 1, 'p1', 2 FROM "order";
        INSERT INTO shipment (order_id, line_no, weight) SELECT order_id, line_no, 1.5 FROM order_line
        """
}
