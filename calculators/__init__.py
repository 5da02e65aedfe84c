"""Self-hosting economics: sizing, prices, money and risk of running an open-weight model. Pure: no Streamlit, no plotly."""
