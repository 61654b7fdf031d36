internal import Foundation
public import PostgresClient

/// A provider as `migration-tool providers list` shows it.
public struct ProviderState: Hashable, Sendable {
    public let name: String
    public let isEnabled: Bool
    /// A JSON object without secrets.
    public let settings: String
}

/// Switches providers on and off, and changes their settings. Servers follow within a few seconds.
public struct ProviderRegistry: Sendable {
    private let pool: PostgresPool

    public init(pool: PostgresPool) { self.pool = pool }

    /// All providers that were ever switched on or configured, by name.
    public func list() async throws -> [ProviderState] {
        let result = try await pool.query(
            """
            SELECT name, enabled, (settings || CASE WHEN settings ? 'secret' THEN '{"secret": "…"}' ELSE '{}' END::jsonb)::text
            FROM tombolo.provider ORDER BY name
            """)
        return try result.map {
            ProviderState(name: try $0[0].string, isEnabled: try $0[1].bool, settings: try $0[2].string)
        }
    }

    /// - Throws: ``AuthenticationError/invalidSettings(reason:)`` if a required setting is missing.
    public func setEnabled(_ isEnabled: Bool, _ name: String) async throws {
        try Self.check(name)
        let stored = try await pool.query("SELECT settings::text FROM tombolo.provider WHERE name = $1", [.text(name)])
        if isEnabled { try Self.validate(stored.first.map { try $0[0].string } ?? "{}", of: name) }
        try await pool.query(
            """
            INSERT INTO tombolo.provider (name, enabled) VALUES ($1, $2)
            ON CONFLICT (name) DO UPDATE SET enabled = EXCLUDED.enabled, changed_at = clock_timestamp()
            """, [.text(name), .bool(isEnabled)])
    }

    /// Replaces a provider's settings. It stays on or off.
    /// - Parameter json: the text of a JSON object.
    /// - Throws: ``AuthenticationError/invalidSettings(reason:)``.
    public func set(_ json: String, of name: String) async throws {
        try Self.check(name)
        let whole = Self.withPreset(json, name)
        try Self.validate(whole, of: name)
        try await pool.query(
            """
            INSERT INTO tombolo.provider (name, settings) VALUES ($1, $2::text::jsonb)
            ON CONFLICT (name) DO UPDATE SET settings = EXCLUDED.settings, changed_at = clock_timestamp()
            """, [.text(name), .text(whole)])
    }

    private static func check(_ name: String) throws(AuthenticationError) {
        guard Provider.exists(name) else { throw .noSuchProvider }
    }

    /// Adds the known settings of Apple and Google.
    private static func withPreset(_ json: String, _ name: String) -> String {
        let preset = IssuerSettings.preset(name)
        guard !preset.isEmpty,
            var object = try? JSONSerialization.jsonObject(with: Data(json.utf8)) as? [String: Any]
        else { return json }
        for (member, values) in preset where object[member] == nil {
            object[member] = member == "jwksURL" ? values[0] : values
        }
        guard let data = try? JSONSerialization.data(withJSONObject: object) else { return json }
        return String(decoding: data, as: UTF8.self)
    }

    private static func validate(_ json: String, of name: String) throws(AuthenticationError) {
        switch name {
        case Provider.emailPassword: _ = try EmailPasswordSettings(json: json)
        case Provider.function: _ = try FunctionSettings(json: json)
        case _ where Provider.isIssuer(name): _ = try IssuerSettings(json: json)
        default: _ = try NoSettings(json: json)
        }
    }
}

/// The tables of providers, and of the identities by which they know users.
enum ProviderSchema {
    /// In bytes.
    static let maximumIdentifierByteCount = 512

    static let sql = """
        CREATE TABLE IF NOT EXISTS tombolo.provider (
            name text PRIMARY KEY,
            enabled boolean NOT NULL DEFAULT false,
            settings jsonb NOT NULL DEFAULT '{}' CHECK (jsonb_typeof(settings) = 'object'),
            changed_at timestamptz NOT NULL DEFAULT clock_timestamp()
        );
        COMMENT ON TABLE tombolo.provider IS 'Ways to log in: for the login services only.';
        INSERT INTO tombolo.provider (name, enabled) VALUES ('\(Provider.emailPassword)', true) ON CONFLICT DO NOTHING;
        CREATE TABLE IF NOT EXISTS tombolo.identity (
            provider text NOT NULL,
            identifier text COLLATE "C" NOT NULL CHECK (octet_length(identifier) BETWEEN 1 AND \(maximumIdentifierByteCount)),
            user_id bytea NOT NULL REFERENCES tombolo.account (id) ON DELETE CASCADE,
            profile jsonb NOT NULL DEFAULT '{}' CHECK (jsonb_typeof(profile) = 'object'),
            created_at timestamptz NOT NULL DEFAULT clock_timestamp(),
            PRIMARY KEY (provider, identifier)
        );
        CREATE INDEX IF NOT EXISTS identity_user ON tombolo.identity (user_id);
        COMMENT ON TABLE tombolo.identity IS
            'What providers other than e-mail and password know users by. An account may have several.';
        CREATE TABLE IF NOT EXISTS tombolo.api_key (
            id bytea PRIMARY KEY CHECK (octet_length(id) = 12),
            user_id bytea NOT NULL REFERENCES tombolo.account (id) ON DELETE CASCADE,
            name text COLLATE "C" NOT NULL,
            secret_hash bytea NOT NULL CHECK (octet_length(secret_hash) = 32),
            disabled_at timestamptz,
            created_at timestamptz NOT NULL DEFAULT clock_timestamp(),
            UNIQUE (user_id, name)
        );
        COMMENT ON TABLE tombolo.api_key IS 'Hashes of API keys: for the login services only.';
        CREATE TABLE IF NOT EXISTS tombolo.mail_token (
            id bytea PRIMARY KEY CHECK (octet_length(id) = 12),
            purpose text NOT NULL CHECK (purpose IN ('confirm', 'reset')),
            email text COLLATE "C" NOT NULL,
            user_id bytea REFERENCES tombolo.account (id) ON DELETE CASCADE,
            secret_hash bytea NOT NULL CHECK (octet_length(secret_hash) = 32),
            display_name text,
            rounds bigint,
            block_size bigint,
            parallelism bigint,
            salt bytea,
            key bytea,
            expires_at timestamptz NOT NULL
        );
        CREATE INDEX IF NOT EXISTS mail_token_email ON tombolo.mail_token (email);
        CREATE INDEX IF NOT EXISTS mail_token_expiry ON tombolo.mail_token (expires_at);
        COMMENT ON TABLE tombolo.mail_token IS
            'Hashes of single-use tokens that were mailed; one to confirm holds what the account will begin with. For the '
            'login services only.';
        ALTER TABLE tombolo.credential ADD COLUMN IF NOT EXISTS is_unused boolean NOT NULL DEFAULT false;
        COMMENT ON COLUMN tombolo.credential.is_unused IS
            'Registered by its user, who has not logged in: another account may still be linked to it.';
        """

    static let tables: Set<String> = ["provider", "identity", "api_key", "mail_token"]
}
