public import Foundation
public import PostgresClient
public import TomboloModel

/// The SQL for invitations. The caller decides who may invite.
public enum Invitations {
    private static let columns = """
        id, email, class, role, scope, invited_by, created_at, expires_at, sent_at, send_count, is_mailed, accepted_at,
        accepted_by, revoked_at
        """

    /// The content of a new invitation.
    public struct Offer: Sendable {
        public let email: String
        public let className: String
        public let role: String
        public let scope: String?
        public let invitedBy: ObjectId

        public init(email: String, className: String, role: String, scope: String?, invitedBy: ObjectId) {
            (self.email, self.className, self.role) = (email, className, role)
            (self.scope, self.invitedBy) = (scope, invitedBy)
        }
    }

    /// How many old rows each new invitation deletes.
    private static let sweptCount = 100

    /// Makes an invitation, in the caller's transaction. It closes an expired one for the same address and role.
    /// - Throws: ``AuthenticationError/alreadyInvited`` if one for the same is open,
    ///   ``AuthenticationError/tooManyInvitations`` beyond the limits.
    nonisolated(nonsending) public static func insert(
        _ offer: Offer, isMailed: Bool, now: Date, _ connection: PostgresConnection
    ) async throws -> (invitation: Invitation, token: InvitationToken) {
        try await lock(offer, connection)
        let time = PostgresParameter.timestamptz(microseconds: now.microseconds)
        try await connection.query(
            """
            DELETE FROM tombolo.invitation WHERE id IN (
                SELECT id FROM tombolo.invitation
                WHERE greatest(expires_at, accepted_at, revoked_at) < $1::timestamptz - make_interval(secs => $2)
                LIMIT \(sweptCount))
            """, [time, .double(Double(Invitation.historySeconds))])
        // An expired one makes room.
        try await connection.query(
            """
            UPDATE tombolo.invitation SET revoked_at = expires_at, revoked_by = invited_by
            WHERE email = $1 AND class = $2 AND role = $3 AND scope IS NOT DISTINCT FROM $4 AND expires_at <= $5
                AND accepted_at IS NULL AND revoked_at IS NULL
            """, [.text(offer.email), .text(offer.className), .text(offer.role), .text(offer.scope), time])
        let counts = try await connection.query(
            """
            SELECT count(*) FILTER (WHERE invited_by = $1),
                count(*) FILTER (WHERE class = $2 AND scope IS NOT DISTINCT FROM $3)
            FROM tombolo.invitation
            WHERE accepted_at IS NULL AND revoked_at IS NULL AND expires_at > $4
                AND (invited_by = $1 OR class = $2 AND scope IS NOT DISTINCT FROM $3)
            """, [.bytea(offer.invitedBy.bytes), .text(offer.className), .text(offer.scope), time])
        guard try counts[0, 0].int < Invitation.maximumOfInviter, try counts[0, 1].int < Invitation.maximumOfScope
        else { throw AuthenticationError.tooManyInvitations }
        let token = InvitationToken(id: .generate())
        let inserted = try await connection.query(
            """
            INSERT INTO tombolo.invitation (id, token_hash, email, class, role, scope, invited_by, created_at, sent_at,
                expires_at, is_mailed)
            VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $8, $9, $10) ON CONFLICT DO NOTHING RETURNING \(columns)
            """,
            [
                .bytea(token.id.bytes), .bytea(token.hash), .text(offer.email), .text(offer.className),
                .text(offer.role), .text(offer.scope), .bytea(offer.invitedBy.bytes), time,
                .timestamptz(microseconds: now.microseconds + Invitation.lifetimeSeconds * 1_000_000),
                .bool(isMailed),
            ])
        guard let row = inserted.first else { throw AuthenticationError.alreadyInvited }
        return (try invitation(row), token)
    }

    /// Locks an inviter and a scope, so that concurrent transactions count their invitations one after the other.
    nonisolated(nonsending) private static func lock(
        _ offer: Offer, _ connection: PostgresConnection
    ) async throws {
        for text in ["inviter \(offer.invitedBy)", "scope \(offer.className) \(offer.scope ?? "")"] {
            try await connection.query(
                "SELECT pg_advisory_xact_lock($1)",
                [.int64(Int64(bitPattern: "tombolo.invitation \(text)".stableHash))])
        }
    }

    /// Makes a new token that replaces the old one, and restarts the invitation's lifetime.
    /// - Parameters:
    ///   - invitation: locked by ``find(_:_:)-(ObjectId,_)``.
    ///   - user: who sends it, and vouches for it from now on.
    /// - Throws: ``AuthenticationError/tooManyAttempts(retryAfterSeconds:)`` if it was sent just now,
    ///   ``AuthenticationError/tooManyInvitations`` if it was sent too often.
    nonisolated(nonsending) public static func renew(
        _ invitation: Invitation, by user: ObjectId, isMailed: Bool, now: Date, _ connection: PostgresConnection
    ) async throws -> (invitation: Invitation, token: InvitationToken) {
        guard invitation.sendCount < Invitation.maximumSendCount else { throw AuthenticationError.tooManyInvitations }
        let next = invitation.sentAt.addingTimeInterval(Double(Invitation.resendPauseSeconds))
        guard next <= now else {
            throw AuthenticationError.tooManyAttempts(
                retryAfterSeconds: max(1, Int(next.timeIntervalSince(now).rounded(.up))))
        }
        let token = InvitationToken(id: invitation.id)
        let updated = try await connection.query(
            """
            UPDATE tombolo.invitation SET token_hash = $2, invited_by = $3, sent_at = $4, expires_at = $5,
                send_count = send_count + 1, is_mailed = $6
            WHERE id = $1 RETURNING \(columns)
            """,
            [
                .bytea(invitation.id.bytes), .bytea(token.hash), .bytea(user.bytes),
                .timestamptz(microseconds: now.microseconds),
                .timestamptz(microseconds: now.microseconds + Invitation.lifetimeSeconds * 1_000_000),
                .bool(isMailed),
            ])
        return (try Self.invitation(updated[0]), token)
    }

    /// The invitation of a token, locked; nil if the token is wrong or not the newest.
    nonisolated(nonsending) public static func find(
        _ token: InvitationToken, _ connection: PostgresConnection
    ) async throws -> Invitation? {
        try await connection.query(
            "SELECT \(columns) FROM tombolo.invitation WHERE id = $1 AND token_hash = $2 FOR UPDATE",
            [.bytea(token.id.bytes), .bytea(token.hash)]
        ).first.map(invitation)
    }

    /// An invitation, locked.
    nonisolated(nonsending) public static func find(
        _ id: ObjectId, _ connection: PostgresConnection
    ) async throws -> Invitation? {
        try await connection.query(
            "SELECT \(columns) FROM tombolo.invitation WHERE id = $1 FOR UPDATE", [.bytea(id.bytes)]
        ).first.map(invitation)
    }

    nonisolated(nonsending) public static func revoke(
        _ id: ObjectId, by user: ObjectId, now: Date, _ connection: PostgresConnection
    ) async throws {
        try await connection.query(
            "UPDATE tombolo.invitation SET revoked_at = $2, revoked_by = $3 WHERE id = $1",
            [.bytea(id.bytes), .timestamptz(microseconds: now.microseconds), .bytea(user.bytes)])
    }

    nonisolated(nonsending) public static func accept(
        _ id: ObjectId, by user: ObjectId, now: Date, _ connection: PostgresConnection
    ) async throws {
        try await connection.query(
            "UPDATE tombolo.invitation SET accepted_at = $2, accepted_by = $3 WHERE id = $1",
            [.bytea(id.bytes), .timestamptz(microseconds: now.microseconds), .bytea(user.bytes)])
    }

    /// Newest first.
    /// - Parameters:
    ///   - className: the class to list, like `scope`; nil for any.
    ///   - isEverywhere: whether to list only those without a scope.
    ///   - openAt: lists only those that can be accepted at this time; nil for all.
    ///   - last: the id after which the list continues.
    nonisolated(nonsending) public static func list(
        className: String?, scope: String?, isEverywhere: Bool = false, openAt: Date?, after last: ObjectId?,
        limit: Int, _ connection: PostgresConnection
    ) async throws -> [Invitation] {
        var conditions = ["true"]
        var parameters: [PostgresParameter] = []
        func add(_ condition: String, _ parameter: PostgresParameter) {
            parameters.append(parameter)
            conditions.append("\(condition) $\(parameters.count)")
        }
        if let className { add("class =", .text(className)) }
        if let scope { add("scope =", .text(scope)) }
        if isEverywhere { conditions.append("scope IS NULL") }
        if let openAt {
            conditions.append("accepted_at IS NULL AND revoked_at IS NULL")
            add("expires_at >", .timestamptz(microseconds: openAt.microseconds))
        }
        if let last { add("id <", .bytea(last.bytes)) }
        return try await connection.query(
            """
            SELECT \(columns) FROM tombolo.invitation WHERE \(conditions.joined(separator: " AND "))
            ORDER BY id DESC LIMIT \(limit)
            """, parameters
        ).map(invitation)
    }

    private static func invitation(_ row: PostgresRow) throws -> Invitation {
        func id(_ column: Int) throws -> ObjectId {
            guard let id = ObjectId(bytes: try row[column].bytes) else {
                throw ValueError("The id of an invitation isn't an ObjectId.")
            }
            return id
        }
        func date(_ column: Int) throws -> Date { Date(microseconds: try row[column].timestampMicroseconds) }
        return Invitation(
            id: try id(0), email: try row[1].string, className: try row[2].string, role: try row[3].string,
            scope: try row[4].nonNull?.string, invitedBy: try id(5), createdAt: try date(6), expiresAt: try date(7),
            sentAt: try date(8), sendCount: try row[9].int, isMailed: try row[10].bool,
            acceptedAt: row[11].isNull ? nil : try date(11), acceptedBy: row[12].isNull ? nil : try id(12),
            revokedAt: row[13].isNull ? nil : try date(13))
    }
}
