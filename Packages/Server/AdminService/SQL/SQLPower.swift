import TomboloLocalization

/// What the SQL page's database user may do besides reading.
package enum SQLPower: Hashable, Sendable {
    case superuser, bypassesRowSecurity, replicates, makesRoles
    case isMember(ofRole: String)
    case readsSecrets(table: String)
    case writes(table: String)

    /// As a sentence.
    var sentence: String {
        let variable = SQLConsole.variable
        return switch self {
        case .superuser: localized("The database user in \(variable) is a superuser.")
        case .bypassesRowSecurity:
            localized("The database user in \(variable) bypasses row-level security (BYPASSRLS).")
        case .replicates: localized("The database user in \(variable) may replicate (REPLICATION).")
        case .makesRoles: localized("The database user in \(variable) may create roles (CREATEROLE).")
        case .isMember(let role): localized("The database user in \(variable) is a member of \(role).")
        case .readsSecrets(let table): localized("The database user in \(variable) may read secrets in \(table).")
        case .writes(let table): localized("The database user in \(variable) may write to \(table).")
        }
    }
}
