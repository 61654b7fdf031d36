/// The function that tells an app's trigger whose write fired it.
extension SystemFunction {
    static let writer = SystemFunction(
        name: "writer", parameters: "", result: "text",
        body: """

            -- The user whose write fires the calling trigger, as the changelog names them: a device's, or somebody's who makes
            -- an object over HTTP. NULL for anything else. A setting counts only in sessions of those who may say who writes.
            DECLARE
                v_origin text := current_setting('tombolo.origin', true);
            BEGIN
                IF v_origin <> '' AND has_column_privilege(session_user, 'tombolo.changelog', 'client', 'INSERT') THEN
                    RETURN (SELECT c.user_id FROM tombolo.client c WHERE c.id = split_part(v_origin, ' ', 2)::bigint);
                END IF;
                IF has_function_privilege(session_user, 'tombolo.name_author(text, text, text, text)', 'EXECUTE') THEN
                    RETURN nullif(current_setting('tombolo.writer', true), '');
                END IF;
                RETURN NULL;
            END
            """)
}
