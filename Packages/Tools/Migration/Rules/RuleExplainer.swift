internal import Foundation
public import PostgresClient
internal import PostgresValues
internal import TomboloAuthentication
internal import TomboloModel
internal import TomboloRules
internal import TomboloServerModel

/// Explains what a user of the database may do, as servers would decide now.
public struct RuleExplainer: Sendable {
    private let pool: PostgresPool

    public init(_ pool: PostgresPool) { self.pool = pool }

    /// - Parameters:
    ///   - user: an e-mail address or an id.
    ///   - key: an object's key as text.
    ///   - candidate: rules to use instead of an app's rules in the database, or nil to use those.
    ///   - app: the candidate's app, or nil for the one that has the class.
    /// - Returns: the explanation, and whether the object is in the trash.
    /// - Throws: ``RuleDeploymentError``; ``TomboloRules/RuleError`` for a candidate with mistakes;
    ///   ``TomboloAuthentication/AuthenticationError/unknownUser``, including for a disabled account;
    ///   ``TomboloServerModel/ServerModelError``; the database's error.
    public func explain(
        user: String, className: String, key: String?, candidate: RuleDeployment? = nil, app: String? = nil
    ) async throws -> (explanation: String, isInTrash: Bool) {
        let current = try await ServerModels.load(pool).current
        guard current.version > 0 else { throw RuleDeploymentError.noModels }
        let owner = app ?? current.app(ofClass: className)
        let model =
            if let candidate {
                try candidate.checked(
                    app: owner, against: try await pool.withConnection { try await DocumentTable.newest($0) })
            } else { current }
        let names = model.schema.classes.filter { $0.owner == nil }.map(\.name)
        if model.schema[className] == nil, let owners = current.owners(ofEmbedded: className) {
            throw RuleDeploymentError.embeddedClass(className, owners: owners)
        }
        guard let item = model.schema[className], item.owner == nil else {
            throw RuleDeploymentError.unknownClass(className, names)
        }
        // Used only to look up users. Nobody gets a token with this secret.
        let tokens = try TokenConfiguration(secret: UUID().uuidString)
        let authenticator = await Authenticator(pool: pool, tokens: tokens, grants: { model.grants })
        let id =
            if let id = try? ObjectId(string: user) { id } else {
                try await AccountRegistry(pool: pool).user(email: user)
            }
        let subject = try await authenticator.subject(of: id)
        var found: (row: Row, isInTrash: Bool)?
        if let key { found = try await object(key, of: item, model.schema) }
        guard let explanation = model.rules.explain(subject, className: className, row: found?.row) else {
            throw RuleDeploymentError.unknownClass(className, names)
        }
        let text = "\(explanation)"
        return (candidate?.naming(text, app: owner) ?? text, found?.isInTrash ?? false)
    }

    private func object(
        _ text: String, of item: ClassSchema, _ schema: Schema
    ) async throws -> (row: Row, isInTrash: Bool) {
        guard let column = item.primaryKey, let key = column.type.keyValue(text) else {
            throw RuleDeploymentError.notAKey(
                text, className: item.name, type: item.primaryKey.map(\.type.name) ?? "none")
        }
        let columns = item.columns.map { PostgresSQL.quoteIdentifier($0.sqlName) }
        let trash = item.isTrashable ? "trashed_at IS NOT NULL" : "false"
        let result = try await pool.query(
            """
            SELECT \(trash), \(columns.joined(separator: ", ")) FROM \(PostgresSQL.quoteIdentifier("public", item.table))
            WHERE \(PostgresSQL.quoteIdentifier(column.sqlName)) = $1
            """, [try PostgresParameter(key, as: column.type)])
        guard let found = result.first else { throw RuleDeploymentError.noObject(text, className: item.name) }
        let values = try item.columns.enumerated().map { position, column in
            try found[position + 1].value(of: schema.storedType(of: column))
        }
        return (Row(values), try found[0].bool)
    }
}

extension ServerModel {
    /// The classes with properties of an embedded class, or nil if there is no such embedded class.
    fileprivate func owners(ofEmbedded name: String) -> [String]? {
        guard let document = models.values.first(where: { $0[name]?.isEmbedded == true }) else { return nil }
        return document.classes.filter { $0.properties.contains { $0.target?.name == name } }.map(\.name)
    }

    /// The app that has a class with a table, by the class's current or previous name.
    fileprivate func app(ofClass name: String) -> String? {
        let now = schema[name]?.name
        return models.first { $0.value.classes.contains { !$0.isEmbedded && $0.name == now } }?.key
    }
}
