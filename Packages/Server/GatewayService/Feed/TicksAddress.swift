public import Foundation
public import TomboloHTTP
public import TomboloRedis

/// Where gateways hear of ticks other than from PostgreSQL, read from environment variables.
public enum TicksAddress {
    public static let variable = "TOMBOLO_TICKS_URL"
    public static let authoritiesVariable = "TOMBOLO_TICKS_CA"

    /// - Returns: nil for PostgreSQL only.
    /// - Throws: ``TomboloHTTP/ConfigurationError``. It doesn't quote the address, which may contain a password.
    public static func read(
        _ environment: [String: String] = ProcessInfo.processInfo.environment
    ) throws(ConfigurationError) -> RedisAddress? {
        guard let text = environment[variable], !text.isEmpty else { return nil }
        guard var address = RedisAddress(text) else {
            throw ConfigurationError(problems: [
                "\(variable) isn't a Redis address: write redis://HOST:PORT, redis://USER:PASSWORD@HOST:PORT, or "
                    + "rediss:// for TLS. Escape special characters in the password, such as %40 for @."
            ])
        }
        address.trustedCertificates = environment[authoritiesVariable].flatMap { $0.isEmpty ? nil : $0 }
        return address
    }
}
