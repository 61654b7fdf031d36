import Testing
import TomboloModel
import TomboloRules

@testable import TomboloAuthentication

@Suite struct LoginLimiterTests {
    private let limit = LoginLimiter.Limit(failures: 3, windowSeconds: 60, entries: 10)
    private let ann = LoginLimiter.Key(email: "ann@example.org", address: "192.0.2.1")

    @Test func afterTooManyFailuresAPairWaits() {
        var limiter = LoginLimiter(limit)
        for _ in 0..<3 { #expect(limiter.begin(ann, now: 100) == nil) }
        #expect(limiter.begin(ann, now: 100.5) == 60)
        #expect(limiter.begin(ann, now: 159.5) == 1)
        #expect(limiter.begin(ann, now: 160) == nil)
    }

    @Test func othersAreNotAffected() {
        var limiter = LoginLimiter(limit)
        for _ in 0..<4 { _ = limiter.begin(ann, now: 0) }
        #expect(limiter.begin(LoginLimiter.Key(email: ann.email, address: "192.0.2.2"), now: 0) == nil)
        #expect(limiter.begin(LoginLimiter.Key(email: "bob@example.org", address: ann.address), now: 0) == nil)
    }

    @Test func aSuccessForgetsTheFailures() {
        var limiter = LoginLimiter(limit)
        for _ in 0..<10 {
            #expect(limiter.begin(ann, now: 0) == nil)
            limiter.succeed(ann)
        }
        #expect(limiter.count == 0)
    }

    @Test func aFloodOfPairsStaysBounded() {
        var limiter = LoginLimiter(limit)
        for number in 0..<1_000 {
            _ = limiter.begin(LoginLimiter.Key(email: "\(number)", address: ""), now: Double(number) / 1_000)
            #expect(limiter.count <= 10)
        }
    }

    @Test func rolesAreRememberedForAMomentAndNotWithoutEnd() {
        var cache = SubjectCache(maximumCount: 5, lifetimeSeconds: 1)
        let user = ObjectId(high: 1, low: 0)
        cache.insert(Subject(user: user), user, readAt: 10)
        #expect(cache.subject(user, now: 10.9) != nil)
        #expect(cache.subject(user, now: 11) == nil)
        for number in 0..<100 {
            let other = ObjectId(high: 2, low: UInt32(number))
            cache.insert(Subject(user: other), other, readAt: 20)
            #expect(cache.count <= 5)
            #expect(cache.subject(other, now: 20) != nil)
        }
    }
}
