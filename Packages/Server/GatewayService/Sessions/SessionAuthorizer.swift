public import TomboloAuthentication
internal import TomboloModel
internal import TomboloPostgresStore
public import TomboloRules
internal import TomboloSyncProtocol
public import TomboloSyncSession

/// Determines from an access token what its user may see and do.
public struct SessionAuthorizer: Sendable {
    private let authenticator: Authenticator
    private let rules: Rules

    public init(authenticator: Authenticator, rules: Rules) {
        self.authenticator = authenticator
        self.rules = rules
    }

    /// - Throws: ``SessionFailure`` for a token that isn't accepted, or another error if the database doesn't answer.
    public func authorize(_ accessToken: String) async throws -> SessionAuthority {
        let subject: Subject
        do {
            // A device whose account was deleted a moment ago still has edits to upload.
            subject = try await authenticator.verify(accessToken, isFresh: true)
        } catch let error as AuthenticationError {
            throw SessionFailure(.notAuthenticated, error.description)
        }
        guard let user = subject.userID else {
            throw SessionFailure(.notAuthenticated, "Synchronising needs a user: log in first.")
        }
        return authority(of: subject, user)
    }

    private func authority(of subject: Subject, _ user: ObjectId) -> SessionAuthority {
        let access = rules.access(of: subject)
        return SessionAuthority(
            user: user.stringValue, rulesFingerprint: rules.fingerprint(of: subject), readable: { access.readable($0) },
            hidden: rules.hiddenColumns(subject), permit: { access.permit($0) }, denial: { access.denial($0, $1) },
            partition: subject.partition.map { SessionPartition(value: $0, columns: rules.partitionColumns) },
            inPartition: { partition in authority(of: subject.inPartition(partition), user) },
            renewed: { database in
                guard let database = database as? PostgresUploadDatabase else { return nil }
                do {
                    let now = try await authenticator.subject(of: user, database.connection)
                    return authority(of: subject.partition.map { now.inPartition($0) } ?? now, user)
                } catch  where error is AuthenticationError || error is ValueError {
                    // There is no such account any more, or its data is something that rules can't read.
                    return nil
                }
            })
    }
}
