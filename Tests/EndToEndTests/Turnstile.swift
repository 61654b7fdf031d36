import PostgresClient

/// Lets rows through one by one, as many as a test admits. A server that works on them is therefore still busy when the
/// test kills it, however long the test had to wait for a core.
///
/// A trigger on the rows calls `public.pass()`. Sequences do the counting, because they change for everybody at once,
/// whatever a transaction's snapshot is and whether or not it commits.
struct Turnstile {
    /// For changing the number of admitted rows.
    private let owner: PostgresConnection

    /// Creates the turnstile, open.
    init(_ owner: PostgresConnection) async throws {
        self.owner = owner
        try await owner.execute(
            """
            CREATE SEQUENCE public.passed MINVALUE 0 START 0;
            CREATE SEQUENCE public.admitted;
            GRANT ALL ON SEQUENCE public.passed, public.admitted TO PUBLIC;
            SELECT nextval('public.passed');
            CREATE FUNCTION public.pass() RETURNS void LANGUAGE plpgsql AS
            $$BEGIN
                WHILE (SELECT p.last_value >= a.last_value FROM public.passed p, public.admitted a) LOOP
                    PERFORM pg_sleep(0.005);
                END LOOP;
                PERFORM nextval('public.passed'), pg_sleep(0.002);
            END$$
            """)
        try await open()
    }

    /// How many rows have passed, including those of transactions that were rolled back.
    var passed: Int {
        get async throws { try await owner.query("SELECT last_value::int FROM public.passed")[0, 0].int }
    }

    /// Lets this many more rows through, then closes. Concurrent transactions may each let one more through.
    /// - Returns: the value of `passed` at which it closes.
    func admit(_ count: Int) async throws -> Int {
        // Keep rows from passing between reading the count and setting the new limit.
        try await owner.execute("SELECT setval('public.admitted', 1)")
        let bound = try await passed + count
        try await owner.execute("SELECT setval('public.admitted', \(max(bound, 1)))")
        return bound
    }

    func open() async throws { try await owner.execute("SELECT setval('public.admitted', 1000000000)") }

    /// Waits until this many rows have passed.
    func untilPassed(_ count: Int) async throws {
        while try await passed < count { await Task.yield() }
    }
}
