import TomboloAuthentication

/// scrypt alone, as the gateway computes it for a login: the same parameters, one hash at a time.
struct PasswordHashing: Sendable {
    var perSecond: [Double] = []
    /// CPU time of this process for each hash.
    var cpuMilliseconds: [Double] = []

    static func measure(_ count: Int, roundCount: Int) async throws -> PasswordHashing {
        let hasher = PasswordHasher()
        let known = try await hasher.hash(LoginAccount.password)
        var result = PasswordHashing()
        for _ in 0..<roundCount {
            let cpuStart = Monotonic.processCPUNanoseconds
            let seconds = try await Monotonic.seconds {
                for _ in 0..<count {
                    guard try await hasher.matches(LoginAccount.password, known) else {
                        throw BenchError("A password does not match its hash.")
                    }
                }
            }
            let cpu = Monotonic.processCPUNanoseconds - cpuStart
            result.perSecond.append(Double(count) / seconds)
            result.cpuMilliseconds.append(Double(cpu) / 1e6 / Double(count))
        }
        return result
    }

    func figures(_ name: String) -> [Figure] {
        [
            Figure("\(name): rate", "1/s", runs: perSecond),
            Figure("\(name): CPU time for each", "ms", runs: cpuMilliseconds),
        ]
    }
}
