internal import TomboloModel
internal import TomboloSQL

/// Functions that read objects in the changelog's form: each column's text by column number. The audit log needs them
/// for the values after an object's last change, which the changelog doesn't have.
extension TriggerGenerator {
    /// An SQL function that uses the snapshot of the statement that calls it.
    struct ImageFunction {
        let name: String
        let parameters: String
        let result: String
        let body: String

        var sql: String {
            """
            CREATE OR REPLACE FUNCTION tombolo.\(name)(\(parameters)) RETURNS \(result) LANGUAGE sql STABLE \
            AS $function$\(body)$function$;
            REVOKE ALL ON FUNCTION tombolo.\(name)(\(parameters)) FROM PUBLIC
            """
        }
    }

    var imageFunctions: [ImageFunction] {
        let table = "public.\(SQLDialect.postgresql.quoted(item.table)) AS t"
        let name = "t.\(SQLDialect.postgresql.quoted(key.sqlName))"
        let type = schema.storedType(of: key)
        var ids = columns.map { String($0.id) }
        var values = columns.map { text("t.", $0.column) }
        if item.isTrashable {
            ids += [LoggedValue.trashColumn, LoggedValue.trashReasonColumn]
            values += ["(t.trashed_at IS NOT NULL)::pg_catalog.text", "t.trash_reason"]
        }
        return [
            ImageFunction(
                name: SchemaName.imageFunction(classID), parameters: "p_keys text[]",
                result: "TABLE (key text, root text, image jsonb)",
                body: """

                    -- Made from the class \(item.name); changes are overwritten.
                    SELECT \(text("t.", key)), \(root("t."))::text, pg_catalog.jsonb_object(
                        '{\(ids.joined(separator: ","))}'::text[],
                        ARRAY[\(values.joined(separator: ", "))]::text[])
                    FROM \(table)
                    WHERE \(name) = ANY (ARRAY(SELECT \(KeyText.parsingExpression("k", type)) FROM unnest(p_keys) AS k))
                    """),
            ImageFunction(
                name: SchemaName.keysFunction(classID), parameters: "p_after text, p_limit integer",
                result: "SETOF text",
                body: """

                    -- Made from the class \(item.name); changes are overwritten.
                    SELECT \(text("t.", key)) FROM \(table)
                    WHERE p_after IS NULL OR \(name) > \(KeyText.parsingExpression("p_after", type))
                    ORDER BY \(name) LIMIT p_limit
                    """),
        ]
    }
}
