/// How the admin server adds rules. Its database role may call this function, and can't write documents in any other
/// way.
enum RuleAddition {
    static let function = SystemFunction(
        name: "add_rules", parameters: "p_app text, p_version bigint, p_content text, p_account text",
        result: "bigint",
        body: """

            -- Adds a newer version of an app's rules, and returns its number; nil where p_version isn't the newest. Models
            -- can't be added like this.
            DECLARE
                v_version bigint;
            BEGIN
                LOCK TABLE tombolo.document IN SHARE ROW EXCLUSIVE MODE;
                IF p_version IS DISTINCT FROM (
                    SELECT max(d.version) FROM tombolo.document d WHERE d.app = p_app AND d.kind = 'rules'
                ) OR p_version IS NULL THEN
                    RETURN NULL;
                END IF;
                INSERT INTO tombolo.document (app, kind, content, checksum, added_by, account)
                VALUES (p_app, 'rules', p_content, encode(sha256(convert_to(p_content, 'UTF8')), 'hex'), session_user,
                    p_account)
                RETURNING version INTO v_version;
                RETURN v_version;
            END
            """)
}
