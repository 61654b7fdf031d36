import Testing
import TomboloModel
import TomboloRules

@testable import TomboloAuthentication

@Suite struct LoginLimiterTests {
    private let limit = LoginLimiter.Limit(
        failures: 3, failuresOfAddress: 20, concurrent: 4, windowSeconds: 60, entries: 10)
    private let ann = LoginLimiter.Key(email: "ann@example.org", address: "192.0.2.1")

    private func key(_ email: String, _ address: String = "192.0.2.1") -> LoginLimiter.Key {
        LoginLimiter.Key(email: email, address: address)
    }

    /// An attempt with a wrong password.
    private func fail(_ limiter: inout LoginLimiter, _ key: LoginLimiter.Key, now: Double) throws(AuthenticationError) {
        limiter.end(try limiter.begin(key, now: now), .failed)
    }

    @Test func afterTooManyFailuresAPairWaits() throws {
        var limiter = LoginLimiter(limit)
        for _ in 0..<3 { try fail(&limiter, ann, now: 100) }
        #expect(throws: AuthenticationError.tooManyAttempts(retryAfterSeconds: 60)) {
            try limiter.begin(ann, now: 100.5)
        }
        #expect(throws: AuthenticationError.tooManyAttempts(retryAfterSeconds: 1)) {
            try limiter.begin(ann, now: 159.5)
        }
        _ = try limiter.begin(ann, now: 160)
    }

    @Test("A remembered key is small, however many bytes its characters have")
    func keysAreSmall() {
        let accents = "e" + String(repeating: "\u{301}", count: 100_000)
        let key = LoginLimiter.Key(email: accents, address: accents)
        #expect(key.email.utf8.count <= AccountRegistry.maximumEmailByteCount)
        #expect(key.address.utf8.count <= LoginLimiter.Key.maximumAddressByteCount)
    }

    @Test func othersAreNotAffected() throws {
        var limiter = LoginLimiter(limit)
        for _ in 0..<4 { try? fail(&limiter, ann, now: 0) }
        _ = try limiter.begin(key(ann.email, "192.0.2.2"), now: 0)
        _ = try limiter.begin(key("bob@example.org"), now: 0)
    }

    @Test func aSuccessForgetsTheFailures() throws {
        var limiter = LoginLimiter(limit)
        for _ in 0..<50 {
            limiter.end(try limiter.begin(ann, now: 0), .succeeded)
        }
        #expect(limiter.count == 0)
    }

    @Test("A login at a look-alike address forgets no failures and makes nobody trusted")
    func spelledAddresses() throws {
        let (victim, own) = (key("ren\u{E9}@example.org"), key("rene\u{301}@example.org"))
        var limiter = LoginLimiter(limit)
        for _ in 0..<3 {
            try fail(&limiter, victim, now: 0)
            limiter.end(try limiter.begin(own, now: 0), .succeeded)
        }
        #expect(throws: AuthenticationError.tooManyAttempts(retryAfterSeconds: 60)) {
            try limiter.begin(victim, now: 0)
        }
        var backoff = AccountBackoff(.codes, maximumCount: 10)
        var count = 0
        while backoff.begin(victim.email, now: 0) == nil, count < 100 {
            count += 1
            backoff.forget(own.email)
        }
        #expect(count < 100 && backoff.begin(own.email, now: 0) == nil)
    }

    @Test func aFloodOfPairsStaysBounded() {
        var limiter = LoginLimiter(limit)
        for number in 0..<1_000 {
            try? fail(&limiter, key("\(number)", "\(number)"), now: Double(number) / 1_000)
            #expect(limiter.count <= 10)
        }
    }

    @Test func aFloodOfEMailsDoesNotForgetAPairThatWaits() {
        var limiter = LoginLimiter(limit)
        for _ in 0..<3 { try? fail(&limiter, ann, now: 0) }
        for number in 0..<1_000 { try? fail(&limiter, key("\(number)", "\(number)"), now: 1) }
        #expect(throws: AuthenticationError.tooManyAttempts(retryAfterSeconds: 58)) { try limiter.begin(ann, now: 2) }
    }

    @Test("when all remembered keys are waiting, they stay waiting, and no other key is locked out")
    func aFullMapLocksNobodyOut() {
        var counter = AttemptCounter<String>(attempts: 3, windowSeconds: 60, maximumCount: 10)
        for number in 0..<30 { #expect(counter.begin("full \(number / 3)", now: 0) == nil) }
        for number in 0..<100 { #expect(counter.begin("new \(number)", now: 1) == nil) }
        #expect(counter.count == 10)
        #expect(counter.begin("full 0", now: 1) == 59)
        // Once the first window has ended, new keys are counted again.
        for _ in 0..<3 { #expect(counter.begin("new", now: 60) == nil) }
        #expect(counter.begin("new", now: 60) == 60)
    }

    @Test("a place given back in a full map goes to the next key")
    func aFullMapOpens() {
        var counter = AttemptCounter<Int>(attempts: 1, windowSeconds: 60, maximumCount: 2)
        for key in 0..<3 { #expect(counter.begin(key, now: 0) == nil) }
        counter.giveBack(0)
        #expect(counter.begin(2, now: 0) == nil)
        #expect(counter.begin(2, now: 0) == 60)
    }

    @Test("one address that tries ever-changing emails waits, longer than a pair does; others don't")
    func oneAddressThatTriesManyEMailsWaits() throws {
        var limiter = LoginLimiter(limit)
        for number in 0..<20 { try fail(&limiter, key("\(number)"), now: 0) }
        #expect(throws: AuthenticationError.tooManyAttempts(retryAfterSeconds: 900)) {
            try limiter.begin(key("another"), now: 0)
        }
        #expect(throws: AuthenticationError.tooManyAttempts(retryAfterSeconds: 1)) {
            try limiter.begin(key("another"), now: 899)
        }
        _ = try limiter.begin(key("another", "192.0.2.2"), now: 0)
        _ = try limiter.begin(key("another"), now: 900)
    }

    @Test("logins that succeed don't count, and don't reduce an address's failures")
    func successesOfAnAddress() throws {
        var limiter = LoginLimiter(limit)
        for number in 0..<1_000 { limiter.end(try limiter.begin(key("\(number)"), now: 0), .succeeded) }
        limiter.end(try limiter.begin(ann, now: 0), .succeeded)
        for number in 0..<20 {
            try fail(&limiter, key("guess \(number)"), now: 1)
            limiter.end(try limiter.begin(ann, now: 1), .succeeded)
        }
        #expect(throws: AuthenticationError.tooManyAttempts(retryAfterSeconds: 900)) {
            try limiter.begin(key("another"), now: 1)
        }
        // A user who logged in from that address before isn't locked out.
        limiter.end(try limiter.begin(ann, now: 1), .succeeded)
    }

    @Test func oneAddressHasFewAttemptsUnderWay() throws {
        var limiter = LoginLimiter(limit)
        let attempts = try (0..<4).map { try limiter.begin(key("\($0)"), now: 0) }
        #expect(throws: AuthenticationError.busy) { try limiter.begin(key("another"), now: 0) }
        _ = try limiter.begin(key("another", "192.0.2.2"), now: 0)
        limiter.end(attempts[0], .failed)
        _ = try limiter.begin(key("another"), now: 0)
    }

    @Test func anAttemptWhosePasswordWasNotCheckedDoesNotCount() throws {
        var limiter = LoginLimiter(limit)
        for _ in 0..<100 {
            limiter.end(try limiter.begin(ann, now: 0), .notTried)
        }
        #expect(limiter.count == 0)
    }

    @Test("one account that is tried from many addresses waits longer each time")
    func anAccountBacksOff() throws {
        var limit = limit
        limit.account = BackoffSchedule(
            freeAttempts: 5, maximumDelaySeconds: 8, memorySeconds: Authenticator.accountMemorySeconds)
        var limiter = LoginLimiter(limit)
        var address = 0
        /// An attempt with a wrong password, each from another address.
        func attempt(now: Double) throws(AuthenticationError) {
            address += 1
            try fail(&limiter, key(ann.email, "198.51.100.\(address)"), now: now)
        }
        for _ in 0..<5 { try attempt(now: 0) }
        var now = 0.0
        for delay in [1, 2, 4, 8, 8, 8] {
            #expect(throws: AuthenticationError.tooManyAttempts(retryAfterSeconds: delay)) { try attempt(now: now) }
            now += Double(delay)
            try attempt(now: now)
        }
        // Another account doesn't wait, and this one is forgotten in the end.
        _ = try limiter.begin(key("bob@example.org", "203.0.113.1"), now: now)
        try attempt(now: now + Authenticator.accountMemorySeconds)
        try attempt(now: now + Authenticator.accountMemorySeconds)
    }

    @Test("someone else's guessing doesn't lock a user out at an address that they logged in from")
    func knownAddressesDoNotWait() throws {
        var limit = limit
        limit.account = BackoffSchedule(freeAttempts: 5, maximumDelaySeconds: 60, memorySeconds: 900)
        var limiter = LoginLimiter(limit)
        limiter.end(try limiter.begin(ann, now: 0), .succeeded)
        for number in 0..<5 { try fail(&limiter, key(ann.email, "198.51.100.\(number)"), now: 1) }
        #expect(throws: AuthenticationError.tooManyAttempts(retryAfterSeconds: 1)) {
            try limiter.begin(key(ann.email, "203.0.113.1"), now: 1)
        }
        try fail(&limiter, ann, now: 1)
        // But that address can't guess endlessly either.
        for _ in 0..<2 { try fail(&limiter, ann, now: 1) }
        #expect(throws: AuthenticationError.self) { try limiter.begin(ann, now: 1) }
    }

    @Test("a flood of accounts stays bounded, and an attempt that wasn't carried out doesn't count")
    func accountsAreBounded() {
        var backoff = AccountBackoff(
            BackoffSchedule(freeAttempts: 2, maximumDelaySeconds: 60, memorySeconds: 900), maximumCount: 10)
        for _ in 0..<3 { _ = backoff.begin("ann", now: 0) }
        for number in 0..<1_000 {
            _ = backoff.begin("\(number)", now: 0.5)
            #expect(backoff.count <= 10)
        }
        #expect(backoff.begin("ann", now: 0.5) == 1)
        for _ in 0..<100 {
            #expect(backoff.begin("bob", now: 1) == nil)
            backoff.giveBack("bob")
        }
        var keys = RecentKeys<Int>(maximumCount: 10)
        for number in 0..<100 {
            keys.note(number)
            #expect(keys.count <= 10 && keys.contains(number))
        }
    }

    @Test(
        "limits by address count an IPv4 address, in either notation, and a /64 network of IPv6 as one",
        arguments: [
            ("192.0.2.1", "192.0.2.1", true), ("192.0.2.1", "::ffff:192.0.2.1", true),
            ("192.0.2.1", "192.0.2.2", false), ("2001:db8::1", "2001:db8::ffff:1", true),
            ("2001:db8::1", "2001:0db8:0:0:1:2:3:4", true), ("2001:db8::1", "2001:db8:0:1::1", false),
            ("fe80::1%eth0", "fe80::2%eth1", true), ("", "", true), ("nonsense", "192.0.2.1", false),
        ])
    func addressesAreGrouped(left: String, right: String, isSame: Bool) {
        #expect((AddressGroup(left) == AddressGroup(right)) == isSame)
    }

    @Test("text that isn't an IP address is its own group, cut to 64 bytes")
    func strangeAddressesAreBounded() {
        for text in ["", "1", "1.2.3", "1.2.3.4.5", "256.1.1.1", "::1::", "1.2.3.4\0", " 1.2.3.4", "[::1]", "::1/64"] {
            #expect(IPAddress(text) == nil, "\(text)")
        }
        #expect(AddressGroup(String(repeating: "x", count: 10_000)).text.count == 64)
    }

    @Test("an IPv4 address is recognised as by the system")
    func plainAddresses() {
        var generator = SystemRandomNumberGenerator()
        let pieces = [
            "0", "1", "9", "25", "255", "256", "007", "00", "", ".", "..", ":", "-1", "99999999999999999999", "é",
        ]
        for _ in 0..<20_000 {
            let text = (0..<Int.random(in: 1...9, using: &generator)).map { _ in
                Bool.random(using: &generator) ? "." : pieces.randomElement(using: &generator) ?? ""
            }.joined()
            let expected = IPAddress(text)?.isIPv4 == true && !text.contains(":")
            #expect(IPAddress.isIPv4(text) == expected, "\(text)")
            if expected { #expect(AddressGroup(text).text == IPAddress(text)?.text) }
        }
    }

    @Test("accounts are remembered for a moment, and only a bounded number")
    func accountsAreRememberedForAMoment() {
        func account(_ id: ObjectId) -> KnownAccount {
            KnownAccount(userID: id, email: nil, displayName: "", customData: [:], generation: 0)
        }
        var cache = AccountCache(maximumCount: 5, lifetimeSeconds: 1)
        let user = ObjectId(high: 1, low: 0)
        cache.insert(account(user), readAt: 10)
        #expect(cache.account(user, now: 10.9) != nil)
        #expect(cache.account(user, now: 11) == nil)
        for number in 0..<100 {
            let other = ObjectId(high: 2, low: UInt32(number))
            cache.insert(account(other), readAt: 20)
            #expect(cache.count <= 5)
            #expect(cache.account(other, now: 20) != nil)
        }
    }
}
