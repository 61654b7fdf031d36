import HTTPTypes
import NIOCore
import PostgresClient
import ServiceTestSupport
import Testing

@testable import TomboloHTTP

/// Which proxies are trusted to report a request's origin.
@Suite struct TrustedProxiesTests {
    private let proxies: TrustedProxies

    init() throws { proxies = try TrustedProxies("10.0.0.0/8, 2001:db8:1::/48 192.0.2.7") }

    private func client(_ peer: String, _ forwardedFor: String..., forwarded: [String] = []) -> String {
        proxies.clientAddress(peer: peer, forwarded: forwarded, forwardedFor: forwardedFor)
    }

    @Test("Forwarding headers are ignored unless a trusted proxy sent them")
    func strangersAreNotBelieved() {
        #expect(client("198.51.100.1", "203.0.113.5") == "198.51.100.1")
        #expect(client("198.51.100.1", forwarded: ["for=203.0.113.5"]) == "198.51.100.1")
        #expect(client("192.0.2.8", "203.0.113.5") == "192.0.2.8")
        #expect(client("2001:db8:2::1", "203.0.113.5") == "2001:db8:2::1")
        let nobody = TrustedProxies.none.clientAddress(peer: "10.0.0.1", forwarded: [], forwardedFor: ["203.0.113.5"])
        #expect(nobody == "10.0.0.1")
    }

    @Test("The client's address is the last one that isn't a trusted proxy's, whatever precedes it")
    func theListIsReadFromItsEnd() {
        #expect(client("10.1.2.3", "203.0.113.5") == "203.0.113.5")
        #expect(client("::ffff:10.1.2.3", "203.0.113.5") == "203.0.113.5")
        #expect(client("2001:db8:1::1", "2001:db8:9::5") == "2001:db8:9::5")
        #expect(client("192.0.2.7", "1.1.1.1, 203.0.113.5") == "203.0.113.5")
        #expect(client("10.1.2.3", "1.1.1.1, 203.0.113.5, 10.9.9.9") == "203.0.113.5")
        #expect(client("10.1.2.3", "1.1.1.1", "203.0.113.5 ,\t10.9.9.9") == "203.0.113.5")
        #expect(client("10.1.2.3", "10.4.4.4, 10.9.9.9") == "10.4.4.4")
        #expect(client("10.1.2.3", "203.0.113.5:4711") == "203.0.113.5")
        #expect(client("10.1.2.3", "[2001:db8:9::5]:4711") == "2001:db8:9::5")
        #expect(
            client("10.1.2.3", forwarded: [#"for=1.1.1.1, FOR="[2001:db8:9::5]:4711";proto=https;by=10.1.2.3"#])
                == "2001:db8:9::5")
        // A quote that the client leaves open doesn't swallow the proxy's addition.
        #expect(client("10.1.2.3", forwarded: [#"for="1.1.1.1, for=203.0.113.5"#]) == "203.0.113.5")
    }

    @Test("Without a usable entry, the last known address is used")
    func unusableEntriesEndTheSearch() {
        for nothing in ["", " ", ",", "unknown", "_hidden", "nonsense", "1.1.1.1, unknown", "203.0.113.5,"] {
            let expected = nothing == "203.0.113.5," ? "203.0.113.5" : "10.1.2.3"
            #expect(client("10.1.2.3", nothing) == expected, "'\(nothing)'")
        }
        #expect(client("10.1.2.3", "1.1.1.1, unknown, 10.9.9.9") == "10.9.9.9")
        #expect(client("10.1.2.3", forwarded: ["by=203.0.113.5"]) == "10.1.2.3")
        let long = Array(repeating: "10.9.9.9", count: 10_000).joined(separator: ",")
        #expect(client("10.1.2.3", "203.0.113.5,\(long)") == "10.9.9.9")
    }

    @Test("Two headers that contradict each other are both ignored")
    func contradictionsAreNotBelieved() {
        #expect(client("10.1.2.3", "203.0.113.5", forwarded: ["for=1.1.1.1"]) == "10.1.2.3")
        #expect(client("10.1.2.3", "203.0.113.5", forwarded: ["for=203.0.113.5"]) == "203.0.113.5")
    }

    @Test("The scheme is the one that the client called with, and a client can't claim one")
    func scheme() {
        func isSecure(_ forwarded: String..., proto: [String] = [], forwardedFor: [String] = []) -> Bool? {
            var headers = HTTPFields()
            headers[values: .forwarded] = forwarded
            headers[values: .forwardedProto] = proto
            headers[values: .forwardedFor] = forwardedFor
            return proxies.isSecure(peer: "10.1.2.3", headers: headers)
        }
        // The outer proxy has TLS, the inner one doesn't, and the reverse.
        #expect(isSecure("for=1.1.1.1;proto=https, for=10.9.9.9;proto=http") == true)
        #expect(isSecure("for=1.1.1.1;proto=https", "for=10.9.9.9;proto=http") == true)
        #expect(isSecure("for=1.1.1.1;proto=http, for=10.9.9.9;proto=https") == false)
        #expect(isSecure("for=1.1.1.1;proto=https, for=10.8.8.8;proto=http, for=10.9.9.9;proto=http") == true)
        // An outer proxy that says nothing about it.
        #expect(isSecure("for=1.1.1.1, for=10.9.9.9;proto=https") == true)
        #expect(isSecure("for=1.1.1.1, for=10.9.9.9") == nil)
        // What precedes the client's address is only its claim.
        #expect(isSecure("for=10.9.9.9;proto=https, for=1.1.1.1;proto=http") == false)
        #expect(isSecure("for=8.8.8.8;proto=https, for=1.1.1.1;proto=http, for=10.9.9.9;proto=http") == false)
        #expect(isSecure("for=1.1.1.1;proto=https, for=unknown;proto=http") == false)
        #expect(isSecure("for=1.1.1.1;proto=https, proto=http") == false)
        // The outer proxy maintains another header, and passes this one on as the client sent it.
        #expect(isSecure("for=1.1.1.1;proto=https, for=10.9.9.9;proto=http", forwardedFor: ["1.1.1.1"]) == false)
        #expect(isSecure(proto: ["https, http"], forwardedFor: ["1.1.1.1, 10.9.9.9"]) == false)
        #expect(isSecure(proto: ["https"]) == true)
        #expect(isSecure("for=1.1.1.1;proto=https", proto: ["http"]) == false)
        #expect(isSecure() == nil)
        let stranger = proxies.isSecure(peer: "198.51.100.1", headers: [.forwarded: "for=1.1.1.1;proto=https"])
        #expect(stranger == nil)
    }

    @Test("An unreadable list of proxies is refused with what's wrong")
    func wrongListsAreRefused() {
        for text in [
            "10.0.0.0/33", "10.0.0.0/0", "::/0", "10.0.0.0/", "/8", "proxy.example.org", "10.0.0.0/8/8", "10.0.0/8",
        ] {
            let error = #expect(throws: ConfigurationError.self) { try TrustedProxies("10.0.0.1, \(text)") }
            #expect(error?.problems.count == 1)
            #expect(error?.description.contains(text) == true, "\(text)")
        }
    }

    @Test("A route sees the address a trusted proxy reports")
    func routesSeeTheClient() async throws {
        for (proxies, expected) in [("127.0.0.0/8", "203.0.113.5"), ("10.0.0.0/8", "127.0.0.1")] {
            var limits = HTTPLimits.patient
            limits.trustedProxies = try TrustedProxies(proxies)
            try await application(limits: limits) {
                $0.on(.get, "/", access: .open(because: "test")) { _, context, _ in context.remoteAddress }
            }.live { port in
                try await PatientClient.with(port) { call in
                    let answer = try await call(
                        .get, "/", headers: [HTTPField.Name("X-Forwarded-For")!: "203.0.113.5"])
                    #expect(answer.text == expected)
                }
            }
        }
    }

    @Test("A route's database connections count for the client's address, or for its network with IPv6")
    func borrowersAreNetworks() async throws {
        var limits = HTTPLimits.patient
        limits.trustedProxies = try TrustedProxies("127.0.0.0/8")
        try await application(limits: limits) {
            $0.on(.get, "/", access: .open(because: "test")) { _, _, _ in PostgresBorrower.current?.address ?? "none" }
        }.live { port in
            try await PatientClient.with(port) { call in
                for (address, expected) in [
                    ("203.0.113.5", "203.0.113.5"), ("2001:db8:9:1::5", "20010db800090001/64"),
                    ("2001:db8:9:1:ffff::7", "20010db800090001/64"), ("2001:db8:9:2::5", "20010db800090002/64"),
                ] {
                    let answer = try await call(.get, "/", headers: [HTTPField.Name("X-Forwarded-For")!: address])
                    #expect(answer.text == expected)
                }
            }
        }
    }
}
