import PostgresClient

/// Lets rows through one by one, as many as a test admits: a server that works on them is still at it when the test
/// kills it, however long the test had to wait for a core.
///
/// A trigger on the rows calls `public.pass()`. Sequences count, since they change for everybody at once, whatever
/// snapshot a transaction has and whether or not it commits.
struct Turnstile {
    /// For changing the count of rows that are admitted.
    private let owner: PostgresConnection

    /// Makes it, open.
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

    /// How many rows went through, also those of transactions that were rolled back.
    var passed: Int {
        get async throws { try await owner.query("SELECT last_value::int FROM public.passed")[0, 0].int }
    }

    /// Lets so many more rows through and then no more. Several transactions at once may each take one more.
    /// - Returns: what `passed` is then.
    func admit(_ count: Int) async throws -> Int {
        // Nobody passes between the look and the new bound.
        try await owner.execute("SELECT setval('public.admitted', 1)")
        let bound = try await passed + count
        try await owner.execute("SELECT setval('public.admitted', \(max(bound, 1)))")
        return bound
    }

    func open() async throws { try await owner.execute("SELECT setval('public.admitted', 1000000000)") }

    /// Waits until so many rows are through.
    func untilPassed(_ count: Int) async throws {
        while try await passed < count { await Task.yield() }
    }
}
